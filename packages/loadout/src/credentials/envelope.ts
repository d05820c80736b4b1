/**
 * Envelope encryption of one secret: its own data key encrypts it, the key ring wraps the data key, and both are bound
 * to its address.
 */
import type { CredentialAddress, Envelope } from '../schema/records/credential.ts'
import { bind, decrypt, encrypt, fromBase64, importAesKey, KEY_BYTES, randomBytes, toBase64 } from './aes.ts'
import type { KeyRing } from './key-ring.ts'

const VERSION = 'loadout-credential-v1'

export async function seal(ring: KeyRing, address: CredentialAddress, secret: string): Promise<Envelope> {
  const boundTo = addressBytes(address)
  const dataKey = randomBytes(KEY_BYTES)
  const { iv, ciphertext } = await encrypt(await importAesKey(dataKey), new TextEncoder().encode(secret), boundTo)
  const { keyId, wrapped } = await ring.wrap(dataKey, boundTo)
  dataKey.fill(0)
  return { keyId, wrappedKey: toBase64(wrapped), iv: toBase64(iv), ciphertext: toBase64(ciphertext) }
}

export async function open(ring: KeyRing, address: CredentialAddress, envelope: Envelope): Promise<string> {
  const boundTo = addressBytes(address)
  const dataKey = await ring.unwrap(envelope.keyId, fromBase64(envelope.wrappedKey), boundTo)
  const sealed = { iv: fromBase64(envelope.iv), ciphertext: fromBase64(envelope.ciphertext) }
  const plain = await decrypt(await importAesKey(dataKey), sealed, boundTo)
  dataKey.fill(0)
  return new TextDecoder().decode(plain)
}

/** Wraps the data key with the ring's current key; the ciphertext stays. */
export async function rewrap(ring: KeyRing, address: CredentialAddress, envelope: Envelope) {
  const boundTo = addressBytes(address)
  const dataKey = await ring.unwrap(envelope.keyId, fromBase64(envelope.wrappedKey), boundTo)
  const { keyId, wrapped } = await ring.wrap(dataKey, boundTo)
  dataKey.fill(0)
  return { keyId, wrappedKey: toBase64(wrapped) }
}

const addressBytes = ({ userId, toolkit, field }: CredentialAddress) => bind(VERSION, userId, toolkit, field)
