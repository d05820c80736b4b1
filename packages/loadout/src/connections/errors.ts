/** Failures of connections by code and status, and texts of servers made safe to show. Loads no SDK. */

import type { ProtocolError } from '@modelcontextprotocol/client'
import { HostError } from '../errors.ts'
import { systemErrorCode } from './http/client/network-errors.ts'

/** JSON-RPC code for a stream that ended without a response; set by our HTTP transport. */
export const STREAM_ENDED = -32_904

/** Brands of the SDK's errors; every copy of the SDK sets them. */
const BRANDS = Symbol.for('mcp.sdk.errorBrands')

/** As `instanceof ProtocolError`, without the class. */
export function isProtocolError(value: unknown): value is ProtocolError {
  if (!(value instanceof Error)) return false
  const brands = (value as { [BRANDS]?: { has?(brand: string): boolean } })[BRANDS]
  return brands?.has?.('mcp.ProtocolError') === true
}

/** Method not found and unsupported version: the server may use another era than the cached one. */
export const OTHER_ERA = new Set([-32_601, -32_022])

/** Whether the server rejected a cached era. It ran nothing, and a new handshake finds the right era. */
export const isOtherEra = (error: HostError) =>
  error.code === 'protocol-error' && isProtocolError(error.cause) && OTHER_ERA.has(error.cause.code)

/** JSON-RPC error code of the server's response. */
export function jsonRpcCode(thrown: unknown): number | undefined {
  const cause = HostError.is(thrown) ? thrown.cause : undefined
  return isProtocolError(cause) && cause.code !== STREAM_ENDED ? cause.code : undefined
}

/** Maps an HTTP status of the server. */
export function fromStatus(status: number, cause: unknown, retryAfterMs?: number): HostError {
  if (status === 401)
    return new HostError('sign-in-needed', { detail: 'The server answered 401: it wants a sign-in.', cause })
  if (status === 403)
    return new HostError('sign-in-needed', {
      detail: 'The server answered 403: these credentials may not do this.',
      cause,
    })
  if (status === 404)
    return new HostError('session-lost', { detail: 'The server no longer knows the session (404).', cause })
  if (status === 429) {
    const wait = retryAfterMs === undefined ? '' : ` Wait ${Math.ceil(retryAfterMs / 1000)} s.`
    return new HostError('rate-limited', {
      detail: `The server answered 429.${wait}`,
      cause,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    })
  }
  if (status >= 500) return new HostError('server-unreachable', { detail: `The server answered ${status}.`, cause })
  return protocolError(`The server answered ${status}.`, cause)
}

export function protocolError(detail: string, cause?: unknown): HostError {
  return new HostError('protocol-error', { detail, cause })
}

const ANSI_COLORS = /\p{Cc}\[[0-9;?]*[ -/]*[@-~]/gu

/** A server's text, at most 500 characters, without control characters and terminal escapes. */
export const sanitizeText = (text: string) =>
  text
    .replace(ANSI_COLORS, '')
    .replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}]+/gu, ' ')
    .slice(0, 500)

const MAX_OUTPUT = 8000

/** The last 8000 characters of process output, without control characters and terminal escapes. */
export const sanitizeOutput = (text: string) => removeControlCharacters(text).slice(-MAX_OUTPUT)

export const removeControlCharacters = (text: string) =>
  text
    .replace(/\r\n?/g, '\n')
    .replace(ANSI_COLORS, '')
    .replace(/[^\P{Cc}\n\t]|[\p{Cf}\p{Co}\p{Cn}]/gu, ' ')
    .trim()

/**
 * Whether a new session may run the work again. A server that rejects the session or the era did not run the call; any
 * other failure is repeated only if `repeatable`.
 */
export function mayRepeat(error: unknown, repeatable: boolean): boolean {
  if (!HostError.is(error)) return false
  if (isOtherEra(error) || wasNeverSent(error)) return true
  const isUnknownSession = error.code === 'session-lost' && isSessionUnknown(error)
  return isUnknownSession || (repeatable && (error.code === 'session-lost' || error.code === 'server-crashed'))
}

/** The connection was refused, so no server received the request. */
function wasNeverSent(error: HostError): boolean {
  for (let cause: unknown = error, depth = 0; cause instanceof Error && depth < 8; cause = cause.cause, depth++)
    if (systemErrorCode(cause) === 'ECONNREFUSED') return error.code === 'server-unreachable'
  return false
}

const isSessionUnknown = (error: HostError) => (error.cause as { status?: unknown } | undefined)?.status === 404

const BROKEN_CODES = new Set([
  'session-lost',
  'server-crashed',
  'server-unreachable',
  'response-too-large',
  'protocol-error',
  'malformed-list',
])

export const isCancelled = (error: unknown): error is HostError => HostError.is(error) && error.code === 'cancelled'

/** Whether the connection is unusable. After `refused-by-server` the session still works. */
export const isBroken = (error: unknown) => HostError.is(error) && BROKEN_CODES.has(error.code)
