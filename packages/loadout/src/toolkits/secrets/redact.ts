/**
 * Redacts known secrets in a text: verbatim, by line, without their scheme or URL, and each of these in JSON, URL and
 * base64 encoding. Fragments at the ends of a cut text are masked too, and so is every key by its form.
 */
import { isStrong, maskKeyForms } from './looks-secret.ts'

const MIN_LENGTH = 4
/** A shorter text is masked only as a whole word. */
const MIN_SUBSTRING_LENGTH = 8
/** Shorter encodings would match ordinary text. */
const MIN_ENCODED_LENGTH = 8
const MIN_PART_LENGTH = 8
/** Replaces a secret in all output. */
export const MASK = '•••'

export function redact(text: string, secrets: readonly string[]): string {
  let masked = text
  for (const secret of secrets) {
    const forms = secretForms(secret)
    masked = maskForms(masked, forms)
    for (const form of forms) masked = maskCutEnds(masked, form)
  }
  return maskKeyForms(masked, MASK)
}

/** Masks each form; the longest forms come first. */
export function maskForms(text: string, forms: readonly string[]): string {
  let masked = text
  for (const form of forms)
    if (masked.includes(form))
      masked = form.length < MIN_SUBSTRING_LENGTH ? maskWords(masked, form) : masked.replaceAll(form, MASK)
  return masked
}

const PART_OF_WORD = /[\p{L}\p{N}_]/u

function maskWords(text: string, form: string): string {
  let masked = ''
  let from = 0
  for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + 1)) {
    if (at < from) continue
    const isWord = !PART_OF_WORD.test(text[at - 1] ?? '') && !PART_OF_WORD.test(text[at + form.length] ?? '')
    if (!isWord) continue
    masked += `${text.slice(from, at)}${MASK}`
    from = at + form.length
  }
  return masked + text.slice(from)
}

/** Forms of several secrets, longest first. */
export const formsOf = (secrets: readonly string[]): readonly string[] =>
  [...new Set(secrets.flatMap(secretForms))].sort((a, b) => b.length - a.length)

/** Masks every text and key of a JSON value. Returns the same object when nothing is masked. */
export function maskDeep(value: unknown, forms: readonly string[]): unknown {
  if (typeof value === 'string') return maskForms(value, forms)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const items = value.map((item) => maskDeep(item, forms))
    return items.some((item, index) => item !== value[index]) ? items : value
  }
  const entries = Object.entries(value)
  const masked = entries.map(([key, inner]) => [maskForms(key, forms), maskDeep(inner, forms)] as const)
  const isSame = masked.every(([key, inner], index) => key === entries[index]?.[0] && inner === entries[index]?.[1])
  return isSame ? value : Object.fromEntries(masked)
}

/** Texts to search for, longest first. Forms below the minimum length are dropped. */
export function secretForms(secret: string): string[] {
  const forms = new Set(secretParts(secret).flatMap(encodings))
  return [...forms].filter((form) => form.length >= MIN_LENGTH).sort((a, b) => b.length - a.length)
}

/** The secret, and its parts that are secret by themselves. */
function secretParts(secret: string): string[] {
  const lines = secret.includes('\n')
    ? secret
        .split(/\r?\n/)
        .map((line) => line.trim())
        .filter(isPart)
    : []
  const [, scheme = '', credentials = ''] = /^(Bearer|Basic|Token|ApiKey)\s+(\S.*)$/is.exec(secret) ?? []
  const basic = scheme.toLowerCase() === 'basic' ? decodeBase64(credentials) : ''
  const password = secret.includes('://') ? (URL.parse(secret)?.password ?? '') : ''
  const parts = [secret, ...lines, credentials, basic, basic.slice(basic.indexOf(':') + 1), password]
  // Secrets in a URL are stored in their encoded form.
  return [...new Set([...parts, ...parts.map(decodeUrl)])].filter((part) => part !== '')
}

/** A line is masked by itself when it is long, varied and has no white space. */
const isPart = (line: string) => !/\s/.test(line) && isStrong(line)

function encodings(text: string): string[] {
  const plain = [text, JSON.stringify(text).slice(1, -1)]
  if (text.length < MIN_ENCODED_LENGTH) return plain
  const url = encodeUrl(text)
  const base64 = [0, 1, 2].map((before) => base64Within(text, before))
  const base64Url = base64.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))
  return [...plain, url, url.replaceAll('%20', '+'), ...base64, ...base64Url]
}

/** The base64 that does not depend on its surroundings, for `before` bytes before it in its group of three. */
function base64Within(text: string, before: number): string {
  const bytes = new TextEncoder().encode(text)
  let binary = '\0'.repeat(before)
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return btoa(binary).slice(Math.ceil((before * 8) / 6), Math.floor((binary.length * 8) / 6))
}

/** The text may be cut inside a secret at either end. */
function maskCutEnds(text: string, form: string): string {
  const longest = Math.min(form.length - 1, text.length)
  let masked = text
  for (let length = longest; length >= MIN_PART_LENGTH; length--)
    if (masked.endsWith(form.slice(0, length))) {
      masked = `${masked.slice(0, -length)}${MASK}`
      break
    }
  for (let length = longest; length >= MIN_PART_LENGTH; length--)
    if (masked.startsWith(form.slice(-length))) return `${MASK}${masked.slice(length)}`
  return masked
}

function encodeUrl(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

function decodeUrl(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function decodeBase64(text: string): string {
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(text), (character) => character.charCodeAt(0)))
  } catch {
    return ''
  }
}
