/** Key ring of a local host: a file that only its owner can read, created at the first start. Node only. */

import { randomUUID } from 'node:crypto'
import { chmod, link, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { z } from 'zod'
import { HostError } from '../errors.ts'
import { fromBase64, importAesKey, KEY_BYTES, randomBytes, toBase64 } from './aes.ts'
import { aesKeyRing } from './aes-key-ring.ts'
import type { KeyRing } from './key-ring.ts'
import { keyIdOf } from './master-key.ts'

const keyFile = z.object({
  version: z.literal(1),
  keys: z.array(z.object({ id: z.string().min(1), key: z.string().refine(isKey, 'is not 32 bytes in base64') })).min(1),
})
type KeyFile = z.infer<typeof keyFile>

/** Opens or creates the file. The first key is the current one. */
export async function keyFileRing(path: string): Promise<KeyRing> {
  return ringOf(await readOrCreate(path))
}

/** Adds a new current key. After `credentials.rotate()` the old key can be removed. */
export async function addKey(path: string): Promise<KeyRing> {
  const current = await readOrCreate(path)
  const next: KeyFile = { version: 1, keys: [await newKey(), ...current.keys] }
  const draft = await writeDraft(path, next)

  await rename(draft, path)
  return ringOf(next)
}

async function readOrCreate(path: string): Promise<KeyFile> {
  const existing = await read(path)
  if (existing) return existing
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const draft = await writeDraft(path, { version: 1, keys: [await newKey()] })
  try {
    // If two processes start at once, the first link wins and the other process reads its key.
    await link(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await rm(draft, { force: true })
  }
  const made = await read(path)
  if (!made) throw new HostError('key-file-unsafe', { detail: `The key file "${path}" went away while it was made.` })
  return made
}

async function read(path: string): Promise<KeyFile | undefined> {
  let text: string
  try {
    await assertPrivate(path)
    text = await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const parsed = keyFile.safeParse(safeJson(text))
  if (parsed.success) return parsed.data
  throw new HostError('key-file-unsafe', {
    detail: `The key file "${path}" is damaged.`,
    action:
      'Restore it from a backup. Without it the stored credentials, and only those, are lost: move it away to start anew.',
  })
}

async function assertPrivate(path: string): Promise<void> {
  const { mode } = await stat(path)
  if (process.platform !== 'win32' && (mode & 0o077) !== 0)
    throw new HostError('key-file-unsafe', {
      detail: `Others can read the key file "${path}" (mode ${(mode & 0o777).toString(8)}).`,
    })
}

async function writeDraft(path: string, content: KeyFile): Promise<string> {
  const draft = `${path}.${randomUUID()}`
  await writeFile(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
  await chmod(draft, 0o600)
  return draft
}

async function newKey() {
  const bytes = randomBytes(KEY_BYTES)
  return { id: await keyIdOf(bytes), key: toBase64(bytes) }
}

async function ringOf({ keys }: KeyFile): Promise<KeyRing> {
  return aesKeyRing(
    await Promise.all(keys.map(async ({ id, key }) => ({ id, key: await importAesKey(fromBase64(key)) }))),
  )
}

function safeJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isKey(text: string): boolean {
  try {
    return fromBase64(text).length === KEY_BYTES
  } catch {
    return false
  }
}
