/**
 * A client that somebody registered by hand belongs to the authorization server that it was first used with, for all who use
 * the toolkit: no other one is shown its secret, key or assertion. Saving one of them again lets the next one be the first.
 */
import type { StoredOAuthClientInformation } from '@modelcontextprotocol/client'
import type { CredentialStore, SecretOwner } from '../../credentials/credential-store.ts'
import { HostError } from '../../errors.ts'
import type { Transaction } from '../../storage/storage.ts'
import type { OAuthSettings, SignInTarget } from '../target.ts'

const FIELD = 'oauth.issuer'

/** The issuer that the client of a toolkit belongs to: the one that is kept, or else this one from now on. */
export async function bindClient(
  tx: Transaction,
  credentials: Pick<CredentialStore, 'read' | 'save' | 'clear'>,
  { keeper, issuer }: { keeper: SecretOwner; issuer: string },
): Promise<string> {
  const savedAt = await lastSaved(tx, keeper)
  const text = (await credentials.read(tx, keeper, [FIELD]))[FIELD]
  const binding = text === undefined ? undefined : (JSON.parse(text) as { issuer: string; savedAt: string })
  if (binding?.savedAt === savedAt) return binding.issuer
  // Of two who come first at once, one meets the row of the other, and looks again.
  await credentials.clear(tx, keeper, [FIELD])
  await credentials.save(tx, keeper, { [FIELD]: JSON.stringify({ issuer, savedAt }) })
  return issuer
}

/** When the secrets of its auth were given. A new key of the key ring does not change it. */
async function lastSaved(tx: Transaction, { userId, toolkit }: SecretOwner): Promise<string> {
  const rows = await tx.list('credentials', { where: { userId, toolkit } })
  const authRows = rows.filter(({ field }) => field.startsWith('auth.'))
  return authRows
    .map(({ field, updatedAt }) => `${field} ${updatedAt.getTime()}`)
    .sort()
    .join(', ')
}

/** The toolkit's own client, for this authorization server. Throws where it is another's. */
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
