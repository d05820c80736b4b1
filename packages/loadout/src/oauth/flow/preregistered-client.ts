/**
 * Binds a manually registered client to the authorization server of its first use, for all users of the toolkit. No
 * other server gets its secret, key or assertion. Saving one of them again resets the binding.
 */
import type { StoredOAuthClientInformation } from '@modelcontextprotocol/client'
import type { CredentialStore, SecretOwner } from '../../credentials/credential-store.ts'
import { HostError } from '../../errors.ts'
import type { Transaction } from '../../storage/storage.ts'
import type { OAuthSettings, SignInTarget } from '../target.ts'

const FIELD = 'oauth.issuer'

/** Returns the bound issuer, or binds the client to `issuer`. */
export async function bindClient(
  tx: Transaction,
  credentials: Pick<CredentialStore, 'read' | 'save' | 'clear'>,
  { keeper, issuer }: { keeper: SecretOwner; issuer: string },
): Promise<string> {
  const savedAt = await lastSaved(tx, keeper)
  const text = (await credentials.read(tx, keeper, [FIELD]))[FIELD]
  const binding = text === undefined ? undefined : (JSON.parse(text) as { issuer: string; savedAt: string })
  if (binding?.savedAt === savedAt) return binding.issuer
  // If two processes bind at once, one conflicts and retries.
  await credentials.clear(tx, keeper, [FIELD])
  await credentials.save(tx, keeper, { [FIELD]: JSON.stringify({ issuer, savedAt }) })
  return issuer
}

/** Version of the auth secrets; key rotation does not change it. */
async function lastSaved(tx: Transaction, { userId, toolkit }: SecretOwner): Promise<string> {
  const rows = await tx.list('credentials', { where: { userId, toolkit } })
  const authRows = rows.filter(({ field }) => field.startsWith('auth.'))
  return authRows
    .map(({ field, updatedAt }) => `${field} ${updatedAt.getTime()}`)
    .sort()
    .join(', ')
}

/** Returns the toolkit's client. Throws if it is bound to another issuer. */
export async function preregisteredClient(
  { settings, boundIssuer }: Pick<SignInTarget, 'settings' | 'boundIssuer'>,
  { clientId, issuer }: { clientId: string; issuer: string },
): Promise<StoredOAuthClientInformation> {
  if (hasSecret(settings) && !isSameIssuer(await boundIssuer(issuer), issuer))
    throw new HostError('sign-in-failed', {
      detail: 'The server names another authorization server than the one that knows this clientId.',
      action: 'Make sure that this is right, then save the auth of the toolkit with its secret again.',
    })
  const { clientSecret } = settings
  return { client_id: clientId, issuer, ...(clientSecret === undefined ? {} : { client_secret: clientSecret }) }
}

const hasSecret = ({ clientSecret, privateKey, assertion, idToken }: OAuthSettings) =>
  [clientSecret, privateKey, assertion, idToken].some((secret) => secret !== undefined)

const isSameIssuer = (one: string, other: string) => one.replace(/\/$/, '') === other.replace(/\/$/, '')
