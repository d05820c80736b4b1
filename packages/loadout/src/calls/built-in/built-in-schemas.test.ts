import { expect, it } from 'vitest'
import { z } from 'zod'
import { SEARCH_TOOLS, searchToolsInput } from '../../search/search-tools.ts'
import { READ_RESULT, readResultInput } from '../results/read-result.ts'

it.each([
  ['read_result', READ_RESULT.inputSchema, readResultInput],
  ['search_tools', SEARCH_TOOLS.inputSchema, searchToolsInput],
])('the written schema of %s equals the one that checks its arguments', (_, written, input) => {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(input, { io: 'input' })
  expect(JSON.stringify(written)).toBe(JSON.stringify(schema))
})
