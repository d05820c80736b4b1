/**
 * What looks like a secret in a command line or a URL. It errs on the side of secret: a masked value still works.
 * Every pattern is bounded and linear, because the text is anybody's.
 */

const SECRET_NAME = /(token|key|secret|passw|pwd|auth|credential|cookie|session|bearer|signature|\bsig\b|\bdsn\b)/i
const KNOWN_FORMS = [
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
/** Most texts have none of these, and need not be taken apart. */
const KNOWN_BEGINNING = /[sp]k-|rk-|gh[opsur]_|github_pat_|glpat-|xox|AKIA|AIza|eyJ|lo_/
const PRIVATE_KEY = 'PRIVATE KEY-----'
/** To its end, or to the end of the text where that is missing. */
const PRIVATE_KEYS = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----|$)/g
const LONG_AND_MIXED = /^(?=.*[A-Za-z])(?=.*\d)[A-Za-z0-9_\-+=]{20,}$/
const LEAST_BITS_A_CHARACTER = 3.2
/** A word ends where no key goes on: keys are looked for at the beginning of each. */
const BETWEEN_WORDS = /[\s"'`,;:=@/?&()[\]{}<>|\\]+/
const WORD = /[^\s"'`,;:=@/?&()[\]{}<>|\\]+/g
const LONGEST = 8192

export const isSecretName = (name: string) => SECRET_NAME.test(name.slice(0, 200))

export function looksSecret(value: string): boolean {
  const text = value.slice(0, LONGEST)
  if (text.includes(PRIVATE_KEY)) return true
  if (LONG_AND_MIXED.test(text) && entropy(text) >= LEAST_BITS_A_CHARACTER) return true
  return hasKnownForm(text)
}

/** Only what is a key by its form: no guess by chance, so that a commit or an id in a log stays readable. */
export function hasKnownSecret(value: string): boolean {
  const text = value.slice(0, LONGEST)
  return text.includes(PRIVATE_KEY) || (KNOWN_BEGINNING.test(text) && hasKnownForm(text))
}

const isKnownForm = (word: string) => KNOWN_FORMS.some((form) => form.test(word))
const hasKnownForm = (text: string) => text.split(BETWEEN_WORDS).some(isKnownForm)

/** The text with a mask in place of each word that is a key by its form. */
export function withoutKnownForms(text: string, mask: string): string {
  if (!hasKnownSecret(text)) return text
  return text.replace(WORD, (word) => (isKnownForm(word) ? mask : word))
}

/** The same for a text of any length, of which nothing else may be hidden. */
export function maskKnownForms(text: string, mask: string): string {
  const open = text.includes(PRIVATE_KEY) ? text.replace(PRIVATE_KEYS, mask) : text
  return KNOWN_BEGINNING.test(open) ? open.replace(WORD, (word) => (isKnownForm(word) ? mask : word)) : open
}

function entropy(text: string): number {
  const counts = new Map<string, number>()
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length)
  return bits
}
