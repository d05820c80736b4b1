/**
 * Maps network errors to `HostError`. The detail names the failed step and the origin only, because a path or query may
 * contain a secret.
 */
import { HostError } from '../../../errors.ts'

const RESET = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED'])
const NO_ROUTE = new Set(['EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL', 'ENETDOWN', 'EHOSTDOWN'])
const TLS =
  /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|EPROTO|HOSTNAME_MISMATCH|INVALID_CA|CRL_|ERROR_IN_)/
const CORRUPT = /^(Z_|ERR__?ERROR_|ERR_BROTLI|ERR_PADDING|ERR_ZLIB)/

export function systemErrorCode(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : ''
}

/** Whether the peer closed the connection. */
export function isReset(error: unknown): boolean {
  return RESET.has(systemErrorCode(error))
}

/** Whether writing failed, so that the server cannot have received the whole request. */
export function isUnsent(error: unknown): boolean {
  return isReset(error) && error instanceof Error && 'syscall' in error && error.syscall === 'write'
}

export function networkError(error: unknown, origin: string): HostError {
  if (HostError.is(error)) return error
  const code = systemErrorCode(error)
  if (code === 'ETIMEDOUT')
    return new HostError('server-timeout', { detail: `${origin}: no connection in time.`, cause: error })
  if (code === 'HPE_HEADER_OVERFLOW')
    return new HostError('response-too-large', {
      detail: `${origin}: the headers of the answer are too large.`,
      cause: error,
    })
  if (code.startsWith('HPE_'))
    return new HostError('protocol-error', { detail: `${origin}: the answer is not HTTP (${code}).`, cause: error })
  if (CORRUPT.test(code))
    return new HostError('protocol-error', {
      detail: `${origin}: the compressed answer is damaged (${code}).`,
      cause: error,
    })
  return new HostError('server-unreachable', {
    detail: `${origin}: ${reason(code)}`,
    ...(UNKNOWN_ISSUER.has(code) ? { action: TRUST_ISSUER } : {}),
    cause: error,
  })
}

/** Certificates without a known issuer. */
const UNKNOWN_ISSUER = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
])
const TRUST_ISSUER =
  'If you trust it, put the certificate of its issuer into a file and start Loadout with NODE_EXTRA_CA_CERTS set to that file.'

function reason(code: string): string {
  if (code === 'ENOTFOUND' || code === 'ENODATA') return 'DNS does not know the name.'
  if (code.startsWith('EAI_')) return `DNS does not answer (${code}).`
  if (code === 'ECONNREFUSED') return 'the connection was refused.'
  if (RESET.has(code)) return 'the connection was reset before the answer was complete.'
  if (NO_ROUTE.has(code)) return `there is no route to it (${code}).`
  if (UNKNOWN_ISSUER.has(code)) return `its certificate is self-signed or of an unknown issuer (${code}).`
  if (TLS.test(code)) return `TLS failed (${code}).`
  return code ? `the connection failed (${code}).` : 'the connection failed.'
}

export function responseTooLarge(origin: string, limit: number, what = 'answer'): HostError {
  return new HostError('response-too-large', { detail: `${origin}: the ${what} is larger than ${limit} bytes.` })
}
