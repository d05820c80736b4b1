import { z } from 'zod'
import { userId } from './ids.ts'

/** What an API key may do. A session and the local principal may do all that their role may. */
export const KEY_SCOPES = ['read', 'write', 'call', 'approve', 'operate'] as const
export const keyScope = z.enum(KEY_SCOPES)
export type KeyScope = z.infer<typeof keyScope>

export const role = z.enum(['user', 'operator'])
export type Role = z.infer<typeof role>

/** The authenticated party. `local` exists only in a single-user host on loopback. */
export const principal = z.strictObject({
  kind: z.enum(['local', 'session', 'api-key']),
  userId,
  role: role.default('user'),
  scopes: z.array(keyScope).readonly().default(KEY_SCOPES),
  /** The API key that was used, for the audit. */
  keyId: z.string().optional(),
  /** When that key ends. */
  expiresAt: z.iso.datetime().optional(),
})
export type Principal = z.infer<typeof principal>
export type PrincipalInput = z.input<typeof principal>
