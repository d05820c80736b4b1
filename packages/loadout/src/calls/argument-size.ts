import { HostError } from '../errors.ts'
import type { CallOutcome, ResolvedCall } from './call.ts'
import { utf8Size } from './utf8-size.ts'

/** What is said of arguments that are larger than the operator wants; undefined where they are not. */
export function tooLarge(call: ResolvedCall, most: number): CallOutcome | undefined {
  const bytes = utf8Size(JSON.stringify(call.arguments))
  call.notes.argumentSize = bytes
  if (bytes <= most) return undefined
  const detail = `The arguments have ${bytes} bytes; argumentBytes is ${most}.`
  return { status: 'limited', error: new HostError('limit-reached', { detail, action: 'Send less.' }) }
}
