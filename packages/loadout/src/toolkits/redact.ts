/**
 * Takes known secrets out of a text: as they are, line by line, without the scheme or the URL around them, and each of that
 * as JSON, a URL or base64 write it. A text may have been cut: what is left of a secret at its ends goes too. What is a key
 * by its form goes, whoever's it is.
 */
import { withoutKnownForms } from './looks-secret.ts'

const SHORTEST = 4
/** Shorter ones, written in another way, could be any text. */
const SHORTEST_ENCODED = 8
const SHORTEST_PART = 8
/** What stands in place of a secret wherever something is shown. */
export const MASK = '•••'

export function redact(text: string, secrets: readonly string[]): string {
  let masked = text
  for (const secret of secrets) {
    const forms = secretForms(secret)
    for (const form of forms) masked = masked.replaceAll(form, MASK)
    for (const form of forms) masked = withoutEnds(masked, form)
  }
  return withoutKnownForms(masked, MASK)
}

/** The texts in which a secret is looked for, the longest first. What is shorter than a secret can be is none. */
export function secretForms(secret: string): string[] {
  const forms = new Set(partsOf(secret).flatMap(writtenIn))
  return [...forms].filter((form) => form.length >= SHORTEST).sort((a, b) => b.length - a.length)
}

/** It, and what is secret in it by itself. */
function partsOf(secret: string): string[] {
  const lines = secret.split(/\r?\n/).map((line) => line.trim())
  const [, scheme = '', credentials = ''] = /^(Bearer|Basic|Token|ApiKey)\s+(\S.*)$/is.exec(secret) ?? []
  const basic = scheme.toLowerCase() === 'basic' ? decodedBase64(credentials) : ''
  const password = secret.includes('://') ? (URL.parse(secret)?.password ?? '') : ''
  const parts = [secret, ...lines, credentials, basic, basic.slice(basic.indexOf(':') + 1), password]
  // In a URL secrets are kept as they are written there.
  return [...new Set([...parts, ...parts.map(decoded)])].filter((part) => part !== '')
}

function writtenIn(text: string): string[] {
  const plain = [text, JSON.stringify(text).slice(1, -1)]
  if (text.length < SHORTEST_ENCODED) return plain
  const url = encodedFor(text)
  const base64 = [0, 1, 2].map((before) => base64Within(text, before))
  const forUrls = base64.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))
  return [...plain, url, url.replaceAll('%20', '+'), ...base64, ...forUrls]
}

/** The part of its base64 that is the same whatever stands around it, with so many bytes before it in its group of three. */
function base64Within(text: string, before: number): string {
  const bytes = new TextEncoder().encode(text)
  let binary = '\0'.repeat(before)
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return btoa(binary).slice(Math.ceil((before * 8) / 6), Math.floor((binary.length * 8) / 6))
}

/** The text may end within a secret, or begin within one. */
function withoutEnds(text: string, form: string): string {
  const longest = Math.min(form.length - 1, text.length)
  let masked = text
  for (let length = longest; length >= SHORTEST_PART; length--)
    if (masked.endsWith(form.slice(0, length))) {
      masked = `${masked.slice(0, -length)}${MASK}`
      break
    }
  for (let length = longest; length >= SHORTEST_PART; length--)
    if (masked.startsWith(form.slice(-length))) return `${MASK}${masked.slice(length)}`
  return masked
}

function encodedFor(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function decodedBase64(text: string): string {
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(text), (character) => character.charCodeAt(0)))
  } catch {
    return ''
  }
}
