/** What looks like a secret in a command line or a URL. It errs on the side of secret: a masked value still works. */

const SECRET_NAME = /(token|key|secret|passw|pwd|auth|credential|cookie|session|bearer|signature|\bsig\b|\bdsn\b)/i
const KNOWN_FORMS = [
  /\b(sk|pk|rk)-[A-Za-z0-9_-]{12,}/,
  /\bgh[opsur]_[A-Za-z0-9]{20,}/,
  /\bgithub_pat_\w{20,}/,
  /\bglpat-[\w-]{16,}/,
  /\bxox[abeprs]-[\w-]{10,}/,
  /\bAKIA[0-9A-Z]{16}\b/,
  /\bAIza[\w-]{30,}/,
  /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/,
  /\blo_[A-Za-z0-9]{20,}/,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
]
const LONG_AND_MIXED = /^(?=.*[A-Za-z])(?=.*\d)[A-Za-z0-9_\-+=]{20,}$/
const LEAST_BITS_A_CHARACTER = 3.2

export const isSecretName = (name: string) => SECRET_NAME.test(name)

export function looksSecret(value: string): boolean {
  return (
    KNOWN_FORMS.some((form) => form.test(value)) ||
    (LONG_AND_MIXED.test(value) && entropy(value) >= LEAST_BITS_A_CHARACTER)
  )
}

function entropy(text: string): number {
  const counts = new Map<string, number>()
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length)
  return bits
}
