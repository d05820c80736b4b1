import { z } from 'zod'
import { userId } from './ids.ts'

/** Scopes of an API key. Sessions and the local principal have all permissions of their role. */
export const KEY_SCOPES = ['read', 'write', 'call', 'approve', 'operate'] as const
export const keyScope = z.enum(KEY_SCOPES)
export type KeyScope = z.infer<typeof keyScope>

export const role = z.enum(['user', 'operator'])
export type Role = z.infer<typeof role>

/** The authenticated caller. `local` exists only in a single-user host on loopback. */
export const principal = z.strictObject({
  kind: z.enum(['local', 'session', 'api-key']),
  userId,
  role: role.default('user'),
  scopes: z.array(keyScope).readonly().default(KEY_SCOPES),
  /** API key of the request, for the audit log. */
  keyId: z.string().optional(),
  /** Expiry of that key. */
  expiresAt: z.iso.datetime().optional(),
})
export type Principal = z.infer<typeof principal>
export type PrincipalInput = z.input<typeof principal>
