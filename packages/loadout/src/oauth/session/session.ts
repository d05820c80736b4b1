/**
 * What is kept of a signed-in user, sealed as one value: the tokens, whose they are, and the client that they were given to.
 * It holds for one URL of one authorization server. Where either changes, it is void.
 */

import type {
  AuthorizationServerMetadata,
  DpopKeyPair,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client'
import { z } from 'zod'

const anyObject = z.record(z.string(), z.unknown())

const stored = z.object({
  serverUrl: z.string(),
  authorizationServerUrl: z.string(),
  issuer: z.string(),
  metadata: anyObject.optional(),
  resource: z.string().optional(),
  client: anyObject,
  tokens: z.looseObject({ access_token: z.string().min(1), token_type: z.string() }),
  /** Milliseconds since 1970. */
  expiresAt: z.number().nullable(),
  obtainedAt: z.number(),
  /** What was asked for. What was granted may be less, and asking for the same again does not change that. */
  scope: z.string().optional(),
  /** How often a sign-in was asked for again that did not help. */
  repeats: z.number().int().default(0),
  /** How often the server asked for more than was granted. */
  stepUps: z.number().int().default(0),
  dpopKey: anyObject.optional(),
})

export type SignInSession = Omit<z.infer<typeof stored>, 'metadata' | 'client' | 'tokens' | 'dpopKey'> & {
  dpopKey?: StoredDpopKey | undefined
  metadata?: AuthorizationServerMetadata | undefined
  client: StoredOAuthClientInformation
  tokens: StoredOAuthTokens
}

/** A session and the number that says whether it is still the latest. */
export interface CurrentSession {
  session: SignInSession | undefined
  generation: number
}

export function readSession(text: string | undefined): SignInSession | undefined {
  if (text === undefined) return undefined
  const read = stored.safeParse(JSON.parse(text))
  return read.success ? (read.data as unknown as SignInSession) : undefined
}

/** Far enough ahead that a request does not arrive with a token that has just ended. */
const AHEAD_MS = 60_000

/** Whether a new token should be had now: a minute ahead, or the last tenth of a short life. */
export function isEnding({ expiresAt, obtainedAt }: SignInSession, now = Date.now()): boolean {
  if (expiresAt === null) return false
  return now >= expiresAt - Math.min(AHEAD_MS, (expiresAt - obtainedAt) / 10)
}

export const isOver = ({ expiresAt }: SignInSession, now = Date.now()) => expiresAt !== null && now >= expiresAt

/** Ten years: what is longer is a mistake of the server, and no date. */
const MAX_SECONDS = 10 * 365 * 86_400

export function endOf({ expires_in }: StoredOAuthTokens, now = Date.now()): number | null {
  if (typeof expires_in !== 'number' || !(expires_in > 0)) return null
  return now + Math.min(expires_in, MAX_SECONDS) * 1000
}

/** How often it was asked for more, or for the same again. */
export type AuthAttempts = Pick<SignInSession, 'repeats' | 'stepUps'>

export const NO_ATTEMPTS: AuthAttempts = { repeats: 0, stepUps: 0 }

export const isDpop = ({ tokens }: SignInSession) => tokens.token_type.toLowerCase() === 'dpop'

/** The key that a session's tokens are bound to, as JSON. */
export interface StoredDpopKey extends Pick<DpopKeyPair, 'publicJwk' | 'thumbprint' | 'alg'> {
  privateJwk: JsonWebKey
}

export async function exportKey({ privateKey, publicJwk, thumbprint, alg }: DpopKeyPair): Promise<StoredDpopKey> {
  return { privateJwk: await crypto.subtle.exportKey('jwk', privateKey), publicJwk, thumbprint, alg }
}

const ES256 = { name: 'ECDSA', namedCurve: 'P-256' } as const

export async function importKey(key: StoredDpopKey): Promise<DpopKeyPair> {
  const { privateJwk, publicJwk, thumbprint, alg } = key
  const [privateKey, publicKey] = await Promise.all([
    crypto.subtle.importKey('jwk', privateJwk, ES256, false, ['sign']),
    crypto.subtle.importKey('jwk', publicJwk as JsonWebKey, ES256, true, ['verify']),
  ])
  return { privateKey, publicKey, publicJwk, thumbprint, alg }
}

/** Scopes are words in a row. */
const splitScope = (scope = '') => scope.split(' ').filter(Boolean)

/** Whether all of them are among the others. */
export const isWithin = (scope: string, wider: string | undefined) =>
  splitScope(scope).every((word) => splitScope(wider).includes(word))
