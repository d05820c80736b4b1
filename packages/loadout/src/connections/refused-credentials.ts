/**
 * What a server's 401 or 403 means for a toolkit that brings credentials of its own: there is nothing to sign in to, only
 * something to replace. Where a sign-in is offered all the same, its link stays the answer.
 */
import { HostError } from '../errors.ts'
import type { Server } from '../schema/server.ts'
import { isSecretName } from '../toolkits/looks-secret.ts'
import type { StoredToolkit } from '../toolkits/stored-toolkit.ts'

export function tellRefusal(error: unknown, { toolkit, tier, carried }: StoredToolkit): unknown {
  if (!HostError.is(error) || error.code !== 'sign-in-needed' || error.action.startsWith('http')) return error
  if (!bringsCredentials(toolkit.server)) return error
  const isOfApp = tier === 'app' && carried === undefined
  const refused = (detail: string, action: string) =>
    new HostError('credentials-refused', { detail, action, cause: error })
  if ((error.cause as { status?: unknown } | undefined)?.status === 403)
    return refused(
      'The server answered 403: the credentials of the toolkit may not do this.',
      'Ask whoever runs the server for the permission, or give the toolkit a token that has it.',
    )
  return refused(
    'The server answered 401: it does not take the credentials of the toolkit.',
    isOfApp ? 'Ask the operator to replace the token of the toolkit.' : 'Replace the token of the toolkit.',
  )
}

/** Whether the server wants to know anew who is there: what it knew until then is of no more use. */
export const isRefused = (error: unknown): error is HostError =>
  HostError.is(error) && (error.code === 'sign-in-needed' || error.code === 'credentials-refused')

function bringsCredentials(server: Server): boolean {
  if (server.type !== 'http' && server.type !== 'sse') return false
  const { auth, headers, url } = server
  if (auth.type !== 'none') return auth.type !== 'oauth'
  return Object.keys(headers).some(isSecretName) || url.includes('${secret:')
}
