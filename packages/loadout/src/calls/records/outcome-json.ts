/** Converts outcomes to JSON for storage and transport, and back. */
import { ERRORS, HostError } from '../../errors.ts'
import type { JsonObject } from '../../schema/json.ts'
import type { CallOutcome } from '../call.ts'
import type { Results } from '../results/results.ts'

const MAX_CHARACTERS = 1_000_000

export function outcomeToJson(outcome: CallOutcome): JsonObject {
  if (!('error' in outcome)) return { ...outcome } as JsonObject
  const { code, message: detail, action, errors, retryAfterMs, status } = outcome.error
  const more = {
    ...(errors ? { errors } : {}),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(status === ERRORS[code].status ? {} : { status }),
  }
  return { status: outcome.status, error: { code, detail, action, ...more } }
}

export function outcomeFromJson(json: JsonObject): CallOutcome {
  const { error, status, ...rest } = json as { error?: StoredError; status: CallOutcome['status'] }
  if (!error) return { status, ...rest } as CallOutcome
  const { code, ...options } = error
  return { status, error: new HostError(code, options) } as CallOutcome
}

interface StoredError {
  code: HostError['code']
  detail: string
  action: string
  errors?: NonNullable<HostError['errors']>
  retryAfterMs?: number
  status?: 404 | 422
}

/** Limits an outcome to the size of a row: a larger result is stored separately, and the row has its handle. */
export async function storableOutcome(
  results: Pick<Results, 'keep'>,
  call: { userId: string; callId: string; ref: string },
  outcome: CallOutcome,
): Promise<CallOutcome> {
  if ('error' in outcome || JSON.stringify(outcome).length <= MAX_CHARACTERS) return outcome
  const { status, content, structuredContent, warnings } = outcome
  const { resultId, bytes } = await results.keep({ ...call, content, structuredContent })
  const text = `The result was given to who waited for it. It has ${bytes} bytes: read it by its handle "${resultId}".`
  return { status, content: [{ type: 'text', text }], resultHandle: resultId, ...(warnings ? { warnings } : {}) }
}

/** Placeholder for a result that could not be stored. */
export function missingResult(status: CallOutcome['status']): JsonObject {
  return { status, content: [{ type: 'text', text: 'The result could not be kept.' }] }
}
