import { z } from 'zod'
import { ownerId } from '../ids.ts'

/** Address of a secret. All three fields are bound into the ciphertext, so a moved row does not decrypt. */
export const credentialAddress = z.strictObject({
  userId: ownerId,
  /** The toolkit's `usco_…`, or `model:<provider>` for a model key. */
  toolkit: z.string().min(1).max(200),
  /** `env.GITHUB_TOKEN`, `headers.Authorization`, `auth.token`, `oauth.tokens`, … */
  field: z.string().min(1).max(300),
})
export type CredentialAddress = z.infer<typeof credentialAddress>

/** Reference that replaces a secret in stored records, contexts and logs. */
export const secretRef = z.strictObject({ toolkit: z.string(), field: z.string() })
export type SecretRef = z.infer<typeof secretRef>

const base64 = z.string().regex(/^[A-Za-z0-9+/]*={0,2}$/)

/** Envelope encryption: data under its own key, and that key wrapped by the key ring's `keyId`. */
export const envelope = z.strictObject({ keyId: z.string().min(1), wrappedKey: base64, iv: base64, ciphertext: base64 })
export type Envelope = z.infer<typeof envelope>

export const credentialRow = z.strictObject({
  credentialId: z.string(),
  ...credentialAddress.shape,
  ...envelope.shape,
  createdAt: z.date(),
  updatedAt: z.date(),
})
export type CredentialRow = z.infer<typeof credentialRow>
