/** Requests a server's suggestions for an argument; the values are sanitized and bounded. */

import type { Client, RequestOptions, StandardSchemaV1 } from '@modelcontextprotocol/client'
import { cleanText } from '../../schema/clean-text.ts'
import type { JsonObject } from '../../schema/json.ts'
import { isObject } from '../../util/is-object.ts'
import type { Completion, CompletionRequest } from '../connection.ts'

const MAX_VALUES = 100
const MAX_VALUE_LENGTH = 1000

const COMPLETION: StandardSchemaV1<unknown, JsonObject> = {
  '~standard': {
    version: 1,
    vendor: 'loadout',
    validate: (value) =>
      isObject(value) && isObject(value.completion) && Array.isArray(value.completion.values)
        ? { value: value.completion }
        : { issues: [{ message: 'must have completion.values' }] },
  },
}

export async function completeArgument(
  client: Client,
  { ref, argument, arguments: filled }: CompletionRequest,
  options: RequestOptions,
): Promise<Completion> {
  if (!client.getServerCapabilities()?.completions) return { values: [] }
  const context = filled && Object.keys(filled).length > 0 ? { context: { arguments: filled } } : {}
  const { values, total, hasMore } = await client.request(
    { method: 'completion/complete', params: { ref, argument, ...context } },
    COMPLETION,
    options,
  )
  const texts = (values as unknown[]).filter((value) => typeof value === 'string' && value.length <= MAX_VALUE_LENGTH)
  return {
    values: texts.slice(0, MAX_VALUES).map((text) => cleanText(text as string).text),
    ...(typeof total === 'number' && Number.isFinite(total) ? { total } : {}),
    ...(typeof hasMore === 'boolean' ? { hasMore } : {}),
  }
}
