import { z } from 'zod'
import { userId } from '../ids.ts'
import { KEY_SCOPES, keyScope, role } from '../principal.ts'

/** An API key. Only its hash is stored; the key is shown once, on creation. */
export const apiKeyRow = z.strictObject({
  keyId: z.string(),
  userId,
  name: z.string(),
  hash: z.string(),
  /** Last characters, so that users can tell keys apart. */
  hint: z.string(),
  role,
  scopesJson: z.array(keyScope),
  createdAt: z.date(),
  lastUsedAt: z.date().nullable(),
  expiresAt: z.date().nullable(),
  revokedAt: z.date().nullable(),
})
export type ApiKeyRow = z.infer<typeof apiKeyRow>

export const apiKeyInput = z.strictObject({
  name: z.string().trim().min(1, 'must not be empty').max(100),
  /** Owner of the key; operators only. @default the caller */
  userId: userId.optional(),
  role: role.optional(),
  scopes: z
    .array(keyScope)
    .min(1)
    .default([...KEY_SCOPES.filter((item) => item !== 'operate')]),
  expiresAt: z.iso
    .datetime()
    .refine((value) => new Date(value) > new Date(), 'is in the past')
    .optional(),
})
export type ApiKeyInput = z.infer<typeof apiKeyInput>

export const apiKeyView = z.object({
  id: z.string(),
  userId: z.string(),
  name: z.string(),
  hint: z.string(),
  role,
  scopes: z.array(keyScope),
  createdAt: z.iso.datetime(),
  lastUsedAt: z.iso.datetime().nullable(),
  expiresAt: z.iso.datetime().nullable(),
})
