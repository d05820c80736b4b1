/**
 * Extracts secrets from a URL by position, never by text search: a secret may have several encodings or be part of
 * another text. Existing placeholders stay.
 */
import { isSecretName, looksSecret } from './looks-secret.ts'

export const PLACEHOLDER = /\$\{secret:([^}]+)\}/g

/** `take` stores a secret and returns its placeholder. Undefined when the text is no URL with an authority. */
export function maskUrl(text: string, take: (secret: string) => string): string | undefined {
  const placeholders: string[] = []
  const mark = markFor(text)
  // Placeholders contain characters that are invalid in URLs, so markers replace them during parsing.
  const readable = text.replace(PLACEHOLDER, (placeholder) => `${mark}${placeholders.push(placeholder) - 1}x`)
  const url = readable.includes('://') ? URL.parse(readable) : null
  if (!url) return undefined
  let taken = false
  const mask = (part: string, isSecret: boolean) => {
    if (part === '' || !isSecret || part.includes(mark)) return part
    taken = true
    return take(part)
  }
  const user = mask(url.username, true)
  const password = mask(url.password, true)
  const userinfo =
    url.username === '' && url.password === '' ? '' : `${user}${url.password === '' ? '' : `:${password}`}@`
  const path = url.pathname
    .split('/')
    .map((segment) => mask(segment, looksSecret(decode(segment))))
    .join('/')
  const query = url.search
    .slice(1)
    .split('&')
    .map((pair) => maskPair(pair, mask))
    .join('&')
  const hash = mask(url.hash.slice(1), looksSecret(decode(url.hash.slice(1))))
  const masked = `${url.protocol}//${userinfo}${url.host}${path}${query === '' ? '' : `?${query}`}${hash === '' ? '' : `#${hash}`}`
  // A URL without secrets is returned as written.
  return taken ? restore(masked, mark, placeholders) : text
}

function maskPair(pair: string, mask: (part: string, isSecret: boolean) => string): string {
  const equals = pair.indexOf('=')
  if (equals < 0) return mask(pair, looksSecret(decode(pair)))
  const name = pair.slice(0, equals)
  const value = pair.slice(equals + 1)
  return `${name}=${mask(value, isSecretName(decode(name)) || looksSecret(decode(value)))}`
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

function markFor(text: string): string {
  let mark = 'keptsecret'
  while (text.toLowerCase().includes(mark)) mark += 'k'
  return mark
}

const restore = (text: string, mark: string, placeholders: readonly string[]) =>
  text.replace(new RegExp(`${mark}(\\d+)x`, 'g'), (_, index: string) => placeholders[Number(index)] ?? '')
