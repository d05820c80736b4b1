/** What the SDK, a socket or a process throws, as our errors: by class, code and status, never by text. */
import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError, UnauthorizedError } from '@modelcontextprotocol/client'
import { HostError } from '../errors.ts'

/** The JSON-RPC code under which our HTTP transport tells that a stream ended without an answer. */
export const STREAM_ENDED = -32_904

export interface FailureContext {
  /** The caller's own signal: an abort is told by the SDK as a timeout. */
  signal?: AbortSignal | undefined
  timeoutMs?: number
}

export function asHostError(thrown: unknown, context: FailureContext = {}): HostError {
  if (context.signal?.aborted) return new HostError('cancelled', { cause: thrown })
  const known = findHostError(thrown)
  if (known) return known
  if (thrown instanceof UnauthorizedError) return new HostError('sign-in-needed', { cause: thrown })
  if (thrown instanceof SdkHttpError) return fromStatus(thrown.status, thrown)
  if (thrown instanceof SdkError) return fromSdk(thrown, context)
  if (thrown instanceof ProtocolError) return fromProtocol(thrown)
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
    case SdkErrorCode.EraNegotiationFailed:
      return protocolError('The server and we share no version of the protocol.', error)
    default:
      return protocolError('The answer is not what the protocol says.', error)
  }
}

function fromProtocol(error: ProtocolError): HostError {
  if (error.code === STREAM_ENDED && HostError.is(error.data)) return error.data
  if (error.code === STREAM_ENDED)
    return new HostError('session-lost', { detail: 'The stream ended before the answer came.', cause: error })
  return protocolError(`The server refused with code ${error.code}: ${plain(error.message)}`, error)
}

/** Method not found, and a version that is not spoken: the server may be of another era than was remembered. */
const OTHER_ERA = new Set([-32_601, -32_022])

/** Whether the server answered properly, and said no: the session is as good as before. */
export function wasAnswered(error: HostError): boolean {
  return error.cause instanceof ProtocolError && error.cause.code !== STREAM_ENDED && !OTHER_ERA.has(error.cause.code)
}

/** Whether it answered as the protocol says, with a result that is not what was asked for. */
export function isOddResult(thrown: unknown): boolean {
  const cause = HostError.is(thrown) ? thrown.cause : undefined
  return cause instanceof SdkError && cause.code === SdkErrorCode.InvalidResult
}

/** The code that the server itself answered with. */
export function jsonRpcCode(thrown: unknown): number | undefined {
  const cause = HostError.is(thrown) ? thrown.cause : undefined
  return cause instanceof ProtocolError && cause.code !== STREAM_ENDED ? cause.code : undefined
}

/** What an HTTP status of the server means. */
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

/** Colours of a terminal are no text. */
const COLOURS = /\p{Cc}\[[0-9;?]*[ -/]*[@-~]/gu

/** A server's own words, short and without characters that a terminal or a model would obey. */
export const plain = (text: string) =>
  text
    .replace(COLOURS, '')
    .replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}]+/gu, ' ')
    .slice(0, 500)

const MOST_OUTPUT = 8000

/** The end of what a process printed, line by line, without characters that a terminal or a model would obey. */
export const lines = (text: string) =>
  text
    .replace(/\r\n?/g, '\n')
    .replace(COLOURS, '')
    .replace(/[^\P{Cc}\n\t]|[\p{Cf}\p{Co}\p{Cn}]/gu, ' ')
    .trim()
    .slice(-MOST_OUTPUT)
