/** Key ring from `LOADOUT_MASTER_KEY`, for multi-user hosts. Weak keys are refused. */
import { HostError } from '../errors.ts'
import { fromBase64, importAesKey, KEY_BYTES, toBase64 } from './aes.ts'
import { aesKeyRing } from './aes-key-ring.ts'
import type { KeyRing } from './key-ring.ts'

const MIN_DISTINCT_BYTES = 16

/**
 * One key, or several for a rotation: `new-key,old-key`. The first is the current one. A key is 32 bytes in base64 or
 * hex, with an optional ID: `id:key`.
 */
export async function masterKeyRing(setting: string): Promise<KeyRing> {
  const keys = await Promise.all(
    setting
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '')
      .map(readKey),
  )
  return aesKeyRing(keys)
}

async function readKey(text: string, position: number) {
  const colon = text.indexOf(':')
  const bytes = decode(text.slice(colon + 1))
  const name = `Key ${position + 1}`
  if (!bytes) throw new HostError('weak-key', { detail: `${name} is neither base64 nor hex.` })
  if (bytes.length < KEY_BYTES)
    throw new HostError('weak-key', { detail: `${name} has ${bytes.length} bytes; ${KEY_BYTES} are needed.` })
  if (bytes.length > KEY_BYTES)
    throw new HostError('weak-key', { detail: `${name} has ${bytes.length} bytes; exactly ${KEY_BYTES} are taken.` })
  if (new Set(bytes).size < MIN_DISTINCT_BYTES || isText(bytes))
    throw new HostError('weak-key', { detail: `${name} does not look random.` })
  return { id: colon > 0 ? text.slice(0, colon) : await keyIdOf(bytes), key: await importAesKey(bytes) }
}

/** A short ID that distinguishes keys and reveals nothing about them. */
export async function keyIdOf(bytes: Uint8Array): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', bytes as BufferSource)
  return `k${toBase64(new Uint8Array(digest))
    .replace(/[^A-Za-z0-9]/g, '')
    .slice(0, 10)}`
}

function decode(text: string): Uint8Array | undefined {
  if (/^[0-9a-f]+$/i.test(text) && text.length % 2 === 0 && text.length >= KEY_BYTES * 2)
    return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
  const standard = text.replaceAll('-', '+').replaceAll('_', '/')
  return /^[A-Za-z0-9+/]+={0,2}$/.test(standard) ? tryBase64(standard) : undefined
}

function tryBase64(text: string): Uint8Array | undefined {
  try {
    return fromBase64(text)
  } catch {
    return undefined
  }
}

// A passphrase in base64 is still a passphrase.
const isText = (bytes: Uint8Array) => bytes.every((byte) => byte >= 0x20 && byte < 0x7f)
