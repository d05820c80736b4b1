/**
 * Imports tokens from the app's own sign-in; they are stored and refreshed like ours. They must come from the
 * authorization server that the toolkit's server names, and a refresh needs the client that they were issued to.
 */
import { discoverOAuthServerInfo, type StoredOAuthClientInformation } from '@modelcontextprotocol/client'
import { z } from 'zod'
import { HostError } from '../../errors.ts'
import { invalidFields, parse } from '../../schema/json.ts'
import { signInError } from '../errors.ts'
import { NO_ATTEMPTS, type SignInSession } from '../session/session.ts'
import type { SignInTarget } from '../target.ts'
import { type Clients, defined, issuerOf, sessionOf } from './authorize.ts'
import { preregisteredClient } from './preregistered-client.ts'

const token = z.string().min(1, 'must not be empty').max(16_384)

const importedTokens = z.strictObject({
  accessToken: token,
  refreshToken: token.optional(),
  /** Expiry of the access token. Without it the token is used until the server refuses it. */
  expiresAt: z.union([z.date(), z.iso.datetime({ offset: true }).transform((text) => new Date(text))]).optional(),
  scope: z.string().max(4096).optional(),
  /** Authorization server that issued the tokens. */
  issuer: z.url().max(4096).optional(),
  /** Client that the tokens were issued to. @default the toolkit's own client, or the registered one */
  clientId: z.string().min(1).max(4096).optional(),
  clientSecret: token.optional(),
})
export type ImportedTokens = z.input<typeof importedTokens>

export async function sessionFromTokens(
  target: SignInTarget,
  input: ImportedTokens,
  clients: Clients,
): Promise<SignInSession> {
  const tokens = parse(importedTokens, input)
  const { serverUrl, fetch: fetchFn } = target
  const found = await discoverOAuthServerInfo(serverUrl, { fetchFn }).catch((error: unknown) => {
    throw signInError(error)
  })
  const issuer = issuerOf(found)
  if (tokens.issuer !== undefined && !isSame(tokens.issuer, issuer))
    throw new HostError('sign-in-failed', {
      detail: 'The tokens are of another authorization server than the one that the server of the toolkit names.',
      action: 'Give tokens of the authorization server that the server names, or let the user sign in.',
    })
  const client = await clientOf(target, { tokens, issuer, clients })
  const { accessToken, refreshToken, expiresAt, scope } = tokens
  const resource = found.resourceMetadata?.resource
  const session = sessionOf(
    { ...NO_ATTEMPTS, serverUrl, scope, client, dpopKey: undefined, discovery: found, resource },
    { access_token: accessToken, token_type: 'Bearer', issuer, ...defined({ refresh_token: refreshToken, scope }) },
  )
  return { ...session, expiresAt: expiresAt?.getTime() ?? null }
}

async function clientOf(
  target: SignInTarget,
  { tokens, issuer, clients }: { tokens: z.output<typeof importedTokens>; issuer: string; clients: Clients },
): Promise<StoredOAuthClientInformation> {
  const { clientId, clientSecret, refreshToken } = tokens
  const toolkitClientId = target.settings.clientId
  if (toolkitClientId !== undefined) {
    if (clientId !== undefined && clientId !== toolkitClientId)
      throw invalidFields([{ path: 'clientId', message: 'is another than the clientId of the toolkit' }])
    return preregisteredClient(target, { clientId: toolkitClientId, issuer })
  }
  if (clientId !== undefined) return { client_id: clientId, issuer, ...defined({ client_secret: clientSecret }) }
  const registered = clients[issuer]
  if (!registered && refreshToken !== undefined)
    throw invalidFields([
      { path: 'clientId', message: 'is missing; a refresh token is good only for the client that has it' },
    ])
  return registered ?? { client_id: '', issuer }
}

const isSame = (one: string, other: string) => one.replace(/\/$/, '') === other.replace(/\/$/, '')
