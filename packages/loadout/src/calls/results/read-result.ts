/** Built-in tool `read_result`: lets a model read more of a result that was too large to show. It reaches no server. */
import { z } from 'zod'
import { HostError } from '../../errors.ts'
import { type JsonObject, parse } from '../../schema/json.ts'
import type { ToolManifest } from '../../schema/toolkit/tool.ts'
import type { CallOutcome } from '../call.ts'
import { failed } from '../call.ts'
import type { Results } from './results.ts'

export const readResultInput = z.strictObject({
  handle: z.string().min(1).max(100),
  offset: z.number().int().min(0).optional(),
  limit: z.number().int().min(1).max(100_000).optional(),
  fromLine: z.number().int().min(1).optional(),
  lines: z.number().int().min(1).max(2000).optional(),
  path: z.string().max(1000).optional(),
})

/** Written out, because converting the schema at load would cost every import of the library; a test compares both. */
const inputSchema = {
  type: 'object',
  properties: {
    handle: { type: 'string', minLength: 1, maxLength: 100 },
    offset: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    limit: { type: 'integer', minimum: 1, maximum: 100_000 },
    fromLine: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
    lines: { type: 'integer', minimum: 1, maximum: 2000 },
    path: { type: 'string', maxLength: 1000 },
  },
  required: ['handle'],
  additionalProperties: false,
} satisfies JsonObject

/** Definition that a model gets. */
export const READ_RESULT: ToolManifest = {
  name: 'read_result',
  description:
    'Reads more of a result that was too large to show, by its handle: a page (offset, limit), lines (fromLine, lines), or a path into its JSON ($.items[0:10].name).',
  inputSchema,
  annotations: { readOnlyHint: true },
}

export async function readResult(results: Results, userId: string, args: JsonObject): Promise<CallOutcome> {
  try {
    // Models write null for omitted arguments.
    const present = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null))
    const { handle, ...part } = parse(readResultInput, present)
    const { text, ...rest } = await results.read(userId, handle, part)
    return { status: 'ok', content: [{ type: 'text', text }], structuredContent: { text, ...rest } }
  } catch (error) {
    return failed(HostError.from(error))
  }
}
