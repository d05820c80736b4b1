/**
 * Stored session of a signed-in user, encrypted as one value: tokens, issuer and client. It is valid for one server URL
 * and one authorization server.
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
  /** Requested scopes. The granted ones may be fewer, and repeating the request does not change that. */
  scope: z.string().optional(),
  /** Number of repeated sign-ins that did not help. */
  repeats: z.number().int().default(0),
  /** Number of times the server required more scopes. */
  stepUps: z.number().int().default(0),
  dpopKey: anyObject.optional(),
})

export type SignInSession = Omit<z.infer<typeof stored>, 'metadata' | 'client' | 'tokens' | 'dpopKey'> & {
  dpopKey?: StoredDpopKey | undefined
  metadata?: AuthorizationServerMetadata | undefined
  client: StoredOAuthClientInformation
  tokens: StoredOAuthTokens
}

/** A session and its generation. */
export interface CurrentSession {
  session: SignInSession | undefined
  generation: number
}

export function readSession(text: string | undefined): SignInSession | undefined {
  if (text === undefined) return undefined
  const read = stored.safeParse(JSON.parse(text))
  return read.success ? (read.data as unknown as SignInSession) : undefined
}

/** Milliseconds before expiry, so that a token does not expire in transit. */
const AHEAD_MS = 60_000

/** Whether to renew now: `AHEAD_MS` before expiry, or in the last tenth of a shorter lifetime. */
export function isEnding({ expiresAt, obtainedAt }: SignInSession, now = Date.now()): boolean {
  if (expiresAt === null) return false
  return now >= expiresAt - Math.min(AHEAD_MS, (expiresAt - obtainedAt) / 10)
}

export const isOver = ({ expiresAt }: SignInSession, now = Date.now()) => expiresAt !== null && now >= expiresAt

/** Ten years; a longer lifetime is a mistake of the server. */
const MAX_SECONDS = 10 * 365 * 86_400

export function sessionEnd({ expires_in }: StoredOAuthTokens, now = Date.now()): number | null {
  if (typeof expires_in !== 'number' || !(expires_in > 0)) return null
  return now + Math.min(expires_in, MAX_SECONDS) * 1000
}

/** Counts of repeated sign-ins and of step-ups. */
export type AuthAttempts = Pick<SignInSession, 'repeats' | 'stepUps'>

export const NO_ATTEMPTS: AuthAttempts = { repeats: 0, stepUps: 0 }

export const isDpop = ({ tokens }: SignInSession) => tokens.token_type.toLowerCase() === 'dpop'

/** DPoP key of the session's tokens, as JSON. */
export interface StoredDpopKey extends Pick<DpopKeyPair, 'publicJwk' | 'thumbprint' | 'alg'> {
  privateJwk: JsonWebKey
}

export async function exportKey({ privateKey, publicJwk, thumbprint, alg }: DpopKeyPair): Promise<StoredDpopKey> {
  return { privateJwk: await crypto.subtle.exportKey('jwk', privateKey), publicJwk, thumbprint, alg }
}

const ES256 = { name: 'ECDSA', namedCurve: 'P-256' } as const

export async function importDpopKey(key: StoredDpopKey): Promise<DpopKeyPair> {
  const { privateJwk, publicJwk, thumbprint, alg } = key
  const [privateKey, publicKey] = await Promise.all([
    crypto.subtle.importKey('jwk', privateJwk, ES256, false, ['sign']),
    crypto.subtle.importKey('jwk', publicJwk as JsonWebKey, ES256, true, ['verify']),
  ])
  return { privateKey, publicKey, publicJwk, thumbprint, alg }
}

/** OAuth scopes are space-separated. */
const splitScope = (scope = '') => scope.split(' ').filter(Boolean)

/** Whether all scopes are among `wider`. */
export const isWithin = (scope: string, wider: string | undefined) =>
  splitScope(scope).every((word) => splitScope(wider).includes(word))
