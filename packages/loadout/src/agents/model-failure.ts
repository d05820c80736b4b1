/** Converts a model error to a `HostError`: its message without the key, and a fix. */
import { APICallError, RetryError } from 'ai'
import { HostError } from '../errors.ts'
import type { OpenModel } from './models.ts'

const MAX_LENGTH = 500

export function modelFailure(thrown: unknown, { name, secrets }: Pick<OpenModel, 'name' | 'secrets'>): HostError {
  if (HostError.is(thrown)) return thrown
  const last = RetryError.isInstance(thrown) ? thrown.lastError : thrown
  if (isAbort(last)) return new HostError('cancelled', { detail: 'The answer was given up.' })
  if (!APICallError.isInstance(last))
    return new HostError('model-failed', { detail: `'${name}' failed: ${redactSecrets(messageOf(last), secrets)}` })
  const { statusCode } = last
  const isRefused = statusCode === 401 || statusCode === 403
  return new HostError('model-failed', {
    detail: `'${name}' answered ${statusCode ?? 'nothing'}: ${redactSecrets(last.message, secrets)}`,
    ...(isRefused ? { action: `Check the key of '${name.split(':')[0]}': the provider refuses it.` } : {}),
  })
}

const isAbort = (error: unknown) =>
  error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError')

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

const redactSecrets = (text: string, secrets: readonly string[]) =>
  secrets.reduce((clean, secret) => clean.replaceAll(secret, '***'), text).slice(0, MAX_LENGTH)
