/**
 * Decides by name, form and entropy whether a value looks like a secret. `secret-values.ts` applies it to a toolkit.
 * Every pattern is bounded and linear, because the text is untrusted.
 */

/** Names whose values are always secret, with or without separators: `apiKey`, `API_KEY`, `apikey`. */
const SECRET_NAME =
  /secret|passw|passphrase|passcode|pwd|credential|bearer|cookie|authorization|token(?!i[sz])|(api|access|private|signing|encryption|master|service|license|auth|account)keys?$/
/** Words for a secret or an ordinary value, such as an issue key or a session number. The value decides. */
const WEAK_WORD = /^(.*keys?|.*auth|session.*|signature|sig|dsn|jwt|pat)$/
const ORDINARY_WORD = /^(keyword.*|(mon|tur|don|hoc|joc|whis|hot)keys?)$/
/** A name with this ending describes a location or setting, not the secret itself. */
const PLAIN_ENDING =
  /^(url|uri|urls|host|hosts|hostname|endpoint|path|paths|file|files|dir|folder|type|types|mode|method|scheme|name|names|user|username|email|port|region|version|enabled|required|ttl|expiry|timeout|level|format|prefix|algorithm|sock|count|limit|budget|usage)$/
const COUNTED = /^(max|min|num|total|input|output|prompt|completion|used|cached|remaining)$/
const KEY_FORMS = [
  /^(sk|pk|rk)-[A-Za-z0-9_-]{12,}/,
  /^gh[opsur]_[A-Za-z0-9]{20,}/,
  /^github_pat_\w{20,}/,
  /^glpat-[\w-]{16,}/,
  /^xox[abeprs]-[\w-]{10,}/,
  /^AKIA[0-9A-Z]{16}/,
  /^AIza[\w-]{30,}/,
  /^eyJ[\w-]{8,}\.[\w-]{8,}/,
  /^lo_[A-Za-z0-9]{20,}/,
]
/** Fast pre-check: most texts contain none of these prefixes. */
const KEY_PREFIX = /[sp]k-|rk-|gh[opsur]_|github_pat_|glpat-|xox|AKIA|AIza|eyJ|lo_/
const PRIVATE_KEY = 'PRIVATE KEY-----'
/** Up to the end marker, or to the end of the text when that is missing. */
const PRIVATE_KEYS = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----|$)/g
const LONG_AND_MIXED = /^(?=.*[A-Za-z])(?=.*\d)[A-Za-z0-9_\-+=]{20,}$/
const MIN_BITS_PER_CHARACTER = 3.2
/** Separators between words; keys are matched at the beginning of each word. */
const BETWEEN_WORDS = /[\s"'`,;:=@/?&()[\]{}<>|\\]+/
const WORD = /[^\s"'`,;:=@/?&()[\]{}<>|\\]+/g
const MAX_LENGTH = 8192

/** Whether a name marks its value as a secret, or a possible one. */
export const isSecretName = (name: string): boolean => classifyName(name) !== 'plain'

/** Whether an argument with this name and value is a secret. A boolean or null never is. */
export function isSecretArgument(name: string, value: unknown): boolean {
  if (value === null || typeof value === 'boolean') return false
  const kind = classifyName(name)
  return kind === 'secret' || (kind === 'weak' && typeof value === 'string' && looksLikeKey(value))
}

function classifyName(name: string): 'secret' | 'weak' | 'plain' {
  const words = wordsOf(name.slice(0, 200))
  const last = words.at(-1) ?? ''
  if (PLAIN_ENDING.test(last) || (last === 'tokens' && words.some((word) => COUNTED.test(word)))) return 'plain'
  if (SECRET_NAME.test(words.join(''))) return 'secret'
  return words.some((word) => WEAK_WORD.test(word) && !ORDINARY_WORD.test(word)) ? 'weak' : 'plain'
}

const wordsOf = (name: string) =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')

const MIN_SECRET_LENGTH = 8
const MIN_SECRET_BITS = 2
const KEY_LIKE = /^(?=.*[A-Za-z])(?=.*\d)\S{16,}$/

/** Long and varied enough to search for in texts; shorter values are part of too many texts. */
export const isStrong = (value: string): boolean =>
  value.length >= MIN_SECRET_LENGTH && entropy(value.slice(0, MAX_LENGTH)) >= MIN_SECRET_BITS

/** Text without white space that mixes letters and digits like a key. */
export const looksLikeKey = (value: string): boolean =>
  looksSecret(value) || (KEY_LIKE.test(value.slice(0, MAX_LENGTH)) && entropy(value.slice(0, MAX_LENGTH)) >= 3)

export function looksSecret(value: string): boolean {
  const text = value.slice(0, MAX_LENGTH)
  if (text.includes(PRIVATE_KEY)) return true
  if (LONG_AND_MIXED.test(text) && entropy(text) >= MIN_BITS_PER_CHARACTER) return true
  return hasKeyForm(text)
}

const isKeyForm = (word: string) => KEY_FORMS.some((form) => form.test(word))
const hasKeyForm = (text: string) => text.split(BETWEEN_WORDS).some(isKeyForm)

/** The words of a text that are keys by their form. */
export function keyFormsIn(value: string): string[] {
  const text = value.slice(0, MAX_LENGTH)
  return KEY_PREFIX.test(text) ? (text.match(WORD) ?? []).filter(isKeyForm) : []
}

/** Masks each word that has the form of a key. A commit hash or an id in a log stays readable. */
export function maskKeyForms(text: string, mask: string): string {
  const withoutPrivateKeys = text.includes(PRIVATE_KEY) ? text.replace(PRIVATE_KEYS, mask) : text
  return KEY_PREFIX.test(withoutPrivateKeys)
    ? withoutPrivateKeys.replace(WORD, (word) => (isKeyForm(word) ? mask : word))
    : withoutPrivateKeys
}

function entropy(text: string): number {
  const counts = new Map<string, number>()
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length)
  return bits
}
