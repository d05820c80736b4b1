import { z } from 'zod'
import { ownerId } from '../ids.ts'

/**
 * That a user signed in to a toolkit's server, or is about to. Tokens are not in it: they lie in the credential store.
 * One row a user and toolkit, so that all processes agree on who refreshes, and which link is still good.
 */
export const signInRow = z.strictObject({
  signInId: z.string(),
  /** Who signed in; '' where the app itself did. */
  userId: ownerId,
  uscoId: z.string(),
  /** Whose tokens they are: the authorization server. Null where there are none. */
  issuer: z.string().nullable(),
  /** When the token ends; null where there is none, or its server does not say. */
  expiresAt: z.date().nullable(),
  /** Whether a new token can be had without the person. */
  renewable: z.boolean(),
  /** Another one with every token that comes or goes. */
  generation: z.number().int(),
  /** Who is getting a new token, and until when nobody else may. */
  leaseHolder: z.string().nullable(),
  leaseUntil: z.date().nullable(),
  /** Of the links that are open: a mark that changes with every one that comes or goes, and the end of the last. */
  stateHash: z.string().nullable(),
  stateUntil: z.date().nullable(),
  createdAt: z.date(),
  updatedAt: z.date(),
})
export type SignInRow = z.infer<typeof signInRow>

/** What people see of it. */
export const signInView = z.strictObject({
  status: z.enum(['signed-in', 'sign-in-needed']),
  /** The authorization server. */
  issuer: z.string().optional(),
  /** When the person will have to sign in again; left out where a new token can be had without them. */
  endsAt: z.date().optional(),
})
export type SignInView = z.infer<typeof signInView>
