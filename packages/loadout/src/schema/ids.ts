import { z } from 'zod'

/** Owner of app-tier rows. A user id is never empty, so no user can sign in as this owner. */
export const APP_OWNER = ''

export const ID_PREFIXES = {
  config: 'usco',
  binding: 'bind',
  tool: 'utool',
  marketServer: 'serv',
  marketVersion: 'sver',
  marketTool: 'tool',
  thread: 'thrd',
  message: 'mesg',
  activation: 'actv',
  loadedTool: 'ltol',
  toolUse: 'tuse',
  credential: 'cred',
  signIn: 'sgin',
  personalCatalog: 'pcat',
  approval: 'appr',
  grant: 'grnt',
  pin: 'pin',
  rule: 'rule',
  audit: 'audt',
  auditEntry: 'aent',
  result: 'rslt',
  chunk: 'rchk',
  usage: 'usge',
  places: 'plcs',
  process: 'proc',
  workflow: 'wflo',
  workflowVersion: 'wver',
  run: 'run',
  step: 'step',
  apiKey: 'akey',
  user: 'user',
  account: 'acct',
  session: 'sess',
  signInLink: 'link',
  call: 'call',
  input: 'inpt',
  request: 'req',
} as const

export type IdKind = keyof typeof ID_PREFIXES

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const RANDOM_LENGTH = 15

/**
 * `usco_` + 26 characters: 11 of time in microseconds, so that ids sort by creation, and 15 (75 bits) of randomness.
 */
export function newId(kind: IdKind): string {
  return idFrom(kind, crypto.getRandomValues(new Uint8Array(RANDOM_LENGTH)))
}

/** Batched `newId`: `getRandomValues` costs more than the rest of an id, so random bytes come in bulk. */
export function createIdGenerator(kind: IdKind): () => string {
  const bulk = new Uint8Array(RANDOM_LENGTH * 256)
  let used = bulk.length
  return () => {
    if (used === bulk.length) {
      crypto.getRandomValues(bulk)
      used = 0
    }
    used += RANDOM_LENGTH
    return idFrom(kind, bulk.subarray(used - RANDOM_LENGTH, used))
  }
}

function idFrom(kind: IdKind, bytes: Uint8Array): string {
  const now = Math.floor((performance.timeOrigin + performance.now()) * 1000)
  let time = ''
  for (let rest = now, i = 0; i < 11; i++, rest = Math.floor(rest / 32)) time = ALPHABET[rest % 32] + time
  let random = ''
  for (let i = 0; i < RANDOM_LENGTH; i++) random += ALPHABET[(bytes[i] ?? 0) % 32]
  return `${ID_PREFIXES[kind]}_${time}${random}`
}

const ID_FORM = /^[a-z]+_([0-9a-hj-km-np-tv-z]{11})[0-9a-hj-km-np-tv-z]{15}$/

/** Creation time of a Loadout id in ms since 1970, or undefined for other ids. */
export function idCreatedAt(id: string): number | undefined {
  const time = ID_FORM.exec(id)?.[1]
  if (time === undefined) return undefined
  return [...time].reduce((sum, character) => sum * 32 + ALPHABET.indexOf(character), 0) / 1000
}

// Stored and ephemeral toolkits have these ids beside their slug. A path takes both, so a slug must not look like one.
const RESERVED_FORMS = /^(usco_[0-9a-z]{26}|call_[0-9a-f]{32})$/

export const toolkitId = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9_-]{0,47}$/,
    'must be 1 to 48 of a-z, 0-9, "-" and "_", beginning with a letter or a digit (for example "my-github")',
  )
  .refine((id) => !RESERVED_FORMS.test(id), 'must not look like one of our own ids (usco_…, call_…); choose another')

// Control characters make two ids look alike in a log.
const plainText = /^[^\p{Cc}\p{Cf}]+$/u

export const userId = z.string().min(1).max(200).regex(plainText, 'must not hold control characters')
/** Owner column of a row: a user or the app. */
export const ownerId = z.union([userId, z.literal(APP_OWNER)])
export const threadId = z
  .string()
  .min(1)
  .max(200)
  .regex(plainText, 'must not hold control characters')
  // A URL with such a segment would resolve to another path.
  .refine((id) => id !== '.' && id !== '..', 'must not be "." or ".."')

/** Slug from a display name, or an empty text when no character of the name is usable. */
export function slugFrom(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[^a-z0-9_-]+/g, '-')
    .replace(/^[-_]+/, '')
    .slice(0, 48)
    .replace(/-+$/, '')
}
