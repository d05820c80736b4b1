/**
 * AES-256-GCM by WebCrypto, for Node and browsers. The tag length is fixed, so that a shorter tag is never accepted.
 */
import { HostError } from '../errors.ts'

const ALGORITHM = 'AES-GCM'
const TAG_BITS = 128
const IV_BYTES = 12
export const KEY_BYTES = 32

export function importAesKey(bytes: Uint8Array): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', bytes as BufferSource, ALGORITHM, false, ['encrypt', 'decrypt'])
}

export function randomBytes(count: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(count))
}

/** Returns the IV, and the ciphertext with its tag. */
export async function encrypt(key: CryptoKey, plain: Uint8Array, boundTo: Uint8Array) {
  const iv = randomBytes(IV_BYTES)
  const ciphertext = await crypto.subtle.encrypt(parameters(iv, boundTo), key, plain as BufferSource)
  return { iv, ciphertext: new Uint8Array(ciphertext) }
}

export async function decrypt(key: CryptoKey, sealed: { iv: Uint8Array; ciphertext: Uint8Array }, boundTo: Uint8Array) {
  try {
    const plain = await crypto.subtle.decrypt(parameters(sealed.iv, boundTo), key, sealed.ciphertext as BufferSource)
    return new Uint8Array(plain)
  } catch (cause) {
    throw new HostError('credential-unreadable', { cause })
  }
}

/** Joins parts with length prefixes, so that different lists never give the same bytes. */
export function bind(...parts: string[]): Uint8Array {
  const encoder = new TextEncoder()
  const chunks = parts.flatMap((part) => {
    const bytes = encoder.encode(part)
    const length = new Uint8Array(4)
    new DataView(length.buffer).setUint32(0, bytes.length)
    return [length, bytes]
  })
  const joined = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0))
  let at = 0
  for (const chunk of chunks) {
    joined.set(chunk, at)
    at += chunk.length
  }
  return joined
}

export function toBase64(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return btoa(text)
}

export function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
}

function parameters(iv: Uint8Array, boundTo: Uint8Array): AesGcmParams {
  return { name: ALGORITHM, iv: iv as BufferSource, additionalData: boundTo as BufferSource, tagLength: TAG_BITS }
}
