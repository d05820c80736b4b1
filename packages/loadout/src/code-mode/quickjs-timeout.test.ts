import { expect, it } from 'vitest'
import { createHost } from '../host.ts'
import { rule } from '../policy/rule.ts'
import { defineTool } from '../toolkits/define-tool.ts'
import { quickjs } from './quickjs.ts'

const never = defineTool({ name: 'never', execute: () => new Promise<never>(() => {}) })
const PROGRAM = 'return await app.never()'

const endOf = async (timeoutMs: number, wallMs?: number) => {
  await using host = createHost({
    ...{ executor: quickjs({ timeoutMs }), tools: [never], policy: [rule('*', 'allow')] },
    programs: { limits: wallMs === undefined ? {} : { wallMs } },
  })
  const { status, error } = await host.thread({ userId: 'ann', threadId: 't' }).run(PROGRAM)
  return `${status}: ${error?.message}`
}

it('a program takes no longer than its executor was made for, where the host says nothing else', async () => {
  expect(await endOf(300)).toMatch(/failed.*300 ms/)
  expect(await endOf(60_000, 400)).toMatch(/failed.*400 ms/)
})
