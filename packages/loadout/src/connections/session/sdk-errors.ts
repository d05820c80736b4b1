/** Maps errors of the SDK to `HostError` by class, code and status, never by text. */

import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError, UnauthorizedError } from '@modelcontextprotocol/client'
import { HostError, type HostErrorOptions } from '../../errors.ts'
import { fromStatus, OTHER_ERA, protocolError, removeControlCharacters, STREAM_ENDED, sanitizeText } from '../errors.ts'

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

const INVALID_PARAMS = -32_602
const RESOURCE_NOT_FOUND = -32_002

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

function findHostError(thrown: unknown): HostError | undefined {
  for (let error = thrown, depth = 0; error instanceof Error && depth < 8; error = error.cause, depth++)
    if (HostError.is(error)) return error
  return undefined
}

const isSyntaxError = (thrown: unknown) => thrown instanceof SyntaxError

const MAX_REFUSAL_LENGTH = 4000
/** Servers on the first TypeScript SDK repeat the code in the message. */
const CODE_PREFIX = /^(MCP error -?\d+: )+/

/** Keeps line breaks, because a refusal may list several problems; a cut text ends with `…`. */
function refusalText(message: string): string {
  const text = removeControlCharacters(message.slice(0, 4 * MAX_REFUSAL_LENGTH)).replace(CODE_PREFIX, '')
  return text.length > MAX_REFUSAL_LENGTH ? `${text.slice(0, MAX_REFUSAL_LENGTH)}…` : text
}
