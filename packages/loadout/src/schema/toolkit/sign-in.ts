import { z } from 'zod'
import { ownerId } from '../ids.ts'

/**
 * OAuth state of a user at a toolkit's server. Tokens are in the credential store. One row per user and toolkit, so
 * that processes agree on who refreshes and which link is valid.
 */
export const signInRow = z.strictObject({
  signInId: z.string(),
  /** User who signed in, or '' for the app. */
  userId: ownerId,
  uscoId: z.string(),
  /** Authorization server of the tokens, or null without tokens. */
  issuer: z.string().nullable(),
  /** Expiry of the access token, or null when there is none or the server does not report it. */
  expiresAt: z.date().nullable(),
  /** Whether a refresh works without the user. */
  renewable: z.boolean(),
  /** Incremented with every token change. */
  generation: z.number().int(),
  /** Process that refreshes the token, and until when its lease is valid. */
  leaseHolder: z.string().nullable(),
  leaseUntil: z.date().nullable(),
  /** Open authorization links: a hash that changes with each of them, and the latest expiry. */
  stateHash: z.string().nullable(),
  stateUntil: z.date().nullable(),
  createdAt: z.date(),
  updatedAt: z.date(),
})
export type SignInRow = z.infer<typeof signInRow>

/** Sign-in state in the API. */
export const signInView = z.strictObject({
  status: z.enum(['signed-in', 'sign-in-needed']),
  /** The authorization server. */
  issuer: z.string().optional(),
  /** Expiry of the sign-in; absent when a refresh works without the user. */
  endsAt: z.date().optional(),
})
export type SignInView = z.infer<typeof signInView>
