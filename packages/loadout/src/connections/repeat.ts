/** What a failure says of its connection, and of the work that it ended. */
import { HostError } from '../errors.ts'
import { isOtherEra } from './failures.ts'
import { codeOf } from './network-errors.ts'

/**
 * A server that no longer knows the session, or never spoke the era that was remembered, did not run the call; anything else
 * is repeated only where that is safe.
 */
export function mayRepeat(error: unknown, repeatable: boolean): boolean {
  if (!HostError.is(error)) return false
  if (isOtherEra(error) || wasNeverSent(error)) return true
  const unknownSession = error.code === 'session-lost' && sessionUnknown(error)
  return unknownSession || (repeatable && (error.code === 'session-lost' || error.code === 'server-crashed'))
}

/** Nobody listened at the address, so no server has the request: it may be back on another connection. */
function wasNeverSent(error: HostError): boolean {
  for (let cause: unknown = error, depth = 0; cause instanceof Error && depth < 8; cause = cause.cause, depth++)
    if (codeOf(cause) === 'ECONNREFUSED') return error.code === 'server-unreachable'
  return false
}

const sessionUnknown = (error: HostError) => (error.cause as { status?: unknown } | undefined)?.status === 404

const BROKEN = new Set([
  'session-lost',
  'server-crashed',
  'server-unreachable',
  'response-too-large',
  'protocol-error',
  'malformed-list',
])

export const isCancelled = (error: unknown): error is HostError => HostError.is(error) && error.code === 'cancelled'

/** Whether the connection is of no more use. A refusal is an answer: the session that it came over works. */
export const isBroken = (error: unknown) => HostError.is(error) && BROKEN.has(error.code)
