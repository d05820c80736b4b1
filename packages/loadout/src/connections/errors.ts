/** Maps errors of the SDK, sockets and processes to `HostError` by class, code and status, never by text. */

import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError, UnauthorizedError } from '@modelcontextprotocol/client'
import { HostError, type HostErrorOptions } from '../errors.ts'
import { systemErrorCode } from './http/client/network-errors.ts'

/** JSON-RPC code for a stream that ended without a response; set by our HTTP transport. */
export const STREAM_ENDED = -32_904

export interface FailureContext {
  /** The caller's signal. The SDK reports its abort as a timeout. */
  signal?: AbortSignal | undefined
  timeoutMs?: number
  /**
   * `handshake`: any refusal means the server is unusable. `first`: the era comes from the cache and is not confirmed
   * yet. `later`: the server has answered before, so a refusal concerns this request only.
   * @default 'handshake'
   */
  stage?: 'handshake' | 'first' | 'later'
}

export function asHostError(thrown: unknown, context: FailureContext = {}): HostError {
  const reason = context.signal?.aborted ? context.signal.reason : undefined
  if (context.signal?.aborted) return HostError.is(reason) ? reason : new HostError('cancelled', { cause: thrown })
  const hostError = findHostError(thrown)
  if (hostError) return hostError
  if (thrown instanceof UnauthorizedError) return new HostError('sign-in-needed', { cause: thrown })
  if (thrown instanceof SdkHttpError) return fromHttp(thrown, context)
  if (thrown instanceof SdkError) return fromSdk(thrown, context)
  if (thrown instanceof ProtocolError) return fromProtocol(thrown, context)
  if (isSyntaxError(thrown)) return protocolError('The answer is not JSON.', thrown)
  return new HostError('server-unreachable', { detail: 'The connection to the server broke.', cause: thrown })
}

function fromSdk(error: SdkError, { timeoutMs }: FailureContext): HostError {
  switch (error.code) {
    case SdkErrorCode.RequestTimeout: {
      const within = timeoutMs === undefined ? 'in time' : `within ${timeoutMs} ms`
      return new HostError('server-timeout', { detail: `The server did not answer ${within}.`, cause: error })
    }
    case SdkErrorCode.ConnectionClosed:
    case SdkErrorCode.NotConnected:
      return new HostError('session-lost', { cause: error })
    case SdkErrorCode.SendFailed:
      return new HostError('server-unreachable', { cause: error })
    case SdkErrorCode.CapabilityNotSupported:
      return unsupported(error)
    case SdkErrorCode.EraNegotiationFailed:
      return protocolError('The server and we share no version of the protocol.', error)
    default:
      return protocolError('The answer is not what the protocol says.', error)
  }
}

function fromProtocol(error: ProtocolError, { stage = 'handshake' }: FailureContext): HostError {
  if (error.code === STREAM_ENDED && HostError.is(error.data)) return error.data
  if (error.code === STREAM_ENDED)
    return new HostError('session-lost', { detail: 'The stream ended before the answer came.', cause: error })
  if (stage === 'handshake' || (stage === 'first' && OTHER_ERA.has(error.code)))
    return protocolError(`The server refused with code ${error.code}: ${sanitizeText(error.message)}`, error)
  return refusal(error)
}

/** Method not found and unsupported version: the server may use another era than the cached one. */
const OTHER_ERA = new Set([-32_601, -32_022])
const INVALID_PARAMS = -32_602
const RESOURCE_NOT_FOUND = -32_002

/** Whether the server rejected a cached era. It ran nothing, and a new handshake finds the right era. */
export const isOtherEra = (error: HostError) =>
  error.code === 'protocol-error' && error.cause instanceof ProtocolError && OTHER_ERA.has(error.cause.code)

/** A healthy server rejected the request. The reason is for the caller, and the session stays usable. */
function refusal(error: ProtocolError): HostError {
  const text = refusalText(error.message)
  const reason = text === '' ? 'it gives no reason.' : text
  return new HostError('refused-by-server', {
    detail: `The server refused the request (${error.code}): ${reason}`,
    ...refusalOptions(error.code),
    cause: error,
  })
}

function refusalOptions(code: number): Pick<HostErrorOptions, 'status' | 'action'> {
  if (code === INVALID_PARAMS)
    return { status: 422, action: 'Correct the arguments as the server says, and send it again.' }
  if (code === RESOURCE_NOT_FOUND)
    return { status: 404, action: 'List what the server offers, and choose one of those.' }
  return {}
}

/** Client features that servers may request during a call and Loadout does not support. */
const FEATURES = new Map([
  ['sampling/createMessage', 'sampling (`sampling/createMessage`)'],
  ['roots/list', 'roots (`roots/list`)'],
])

function unsupported(error: SdkError): HostError {
  const method = String((error.data as { method?: unknown } | undefined)?.method ?? '')
  const feature = FEATURES.get(method) ?? `\`${sanitizeText(method)}\``
  return new HostError('refused-by-server', {
    detail: `The server asks for ${feature} to answer this request, and Loadout does not support it.`,
    action: 'Use a tool that works without it, or turn that feature off in the server’s own settings.',
    cause: error,
  })
}

/**
 * The body of an HTTP error may be a JSON-RPC response: with an ID it concerns the request, without one the session.
 */
function fromHttp(error: SdkHttpError, context: FailureContext): HostError {
  const rpcError = NOT_ABOUT_THE_REQUEST.has(error.status) ? undefined : parseRpcError(error.data)
  return rpcError ? fromProtocol(rpcError, context) : fromStatus(error.status, error)
}

const NOT_ABOUT_THE_REQUEST = new Set([401, 403, 429])

function parseRpcError(data: unknown): ProtocolError | undefined {
  const text = (data as { text?: unknown } | undefined)?.text
  if (typeof text !== 'string' || !text.startsWith('{')) return undefined
  try {
    const { jsonrpc, id, error } = JSON.parse(text) as {
      jsonrpc?: unknown
      id?: unknown
      error?: Partial<ProtocolError>
    }
    const isRpcError = jsonrpc === '2.0' && id !== undefined && id !== null && typeof error?.code === 'number'
    return isRpcError ? new ProtocolError(error.code as number, String(error.message ?? '')) : undefined
  } catch {
    return undefined
  }
}

/** Whether the response follows the protocol but its result has the wrong type. */
export function isInvalidResult(thrown: unknown): boolean {
  const cause = HostError.is(thrown) ? thrown.cause : undefined
  return cause instanceof SdkError && cause.code === SdkErrorCode.InvalidResult
}

/** JSON-RPC error code of the server's response. */
export function jsonRpcCode(thrown: unknown): number | undefined {
  const cause = HostError.is(thrown) ? thrown.cause : undefined
  return cause instanceof ProtocolError && cause.code !== STREAM_ENDED ? cause.code : undefined
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

function findHostError(thrown: unknown): HostError | undefined {
  for (let error = thrown, depth = 0; error instanceof Error && depth < 8; error = error.cause, depth++)
    if (HostError.is(error)) return error
  return undefined
}

const isSyntaxError = (thrown: unknown) => thrown instanceof SyntaxError

const ANSI_COLORS = /\p{Cc}\[[0-9;?]*[ -/]*[@-~]/gu

/** A server's text, at most 500 characters, without control characters and terminal escapes. */
export const sanitizeText = (text: string) =>
  text
    .replace(ANSI_COLORS, '')
    .replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}]+/gu, ' ')
    .slice(0, 500)

const MAX_REFUSAL_LENGTH = 4000
/** Servers on the first TypeScript SDK repeat the code in the message. */
const CODE_PREFIX = /^(MCP error -?\d+: )+/

/** Keeps line breaks, because a refusal may list several problems; a cut text ends with `…`. */
function refusalText(message: string): string {
  const text = removeControlCharacters(message.slice(0, 4 * MAX_REFUSAL_LENGTH)).replace(CODE_PREFIX, '')
  return text.length > MAX_REFUSAL_LENGTH ? `${text.slice(0, MAX_REFUSAL_LENGTH)}…` : text
}

const MAX_OUTPUT = 8000

/** The last 8000 characters of process output, without control characters and terminal escapes. */
export const sanitizeOutput = (text: string) => removeControlCharacters(text).slice(-MAX_OUTPUT)

const removeControlCharacters = (text: string) =>
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
