/** Takes known secrets out of a text: as they are, as JSON writes them, and line by line. */
const SHORTEST = 4
const MASK = '•••'

export function redact(text: string, secrets: readonly string[]): string {
  let masked = text
  for (const secret of secrets) for (const form of secretForms(secret)) masked = masked.replaceAll(form, MASK)
  return masked
}

/** The texts in which a secret is looked for. What is shorter than a secret can be is none. */
export const secretForms = (secret: string) => formsOf(secret).filter((form) => form.length >= SHORTEST)

/** The longest first, so that a part does not spoil the whole. */
function formsOf(secret: string): string[] {
  const lines = secret.split(/\r?\n/).map((line) => line.trim())
  return [secret, JSON.stringify(secret).slice(1, -1), ...(lines.length > 1 ? lines : [])]
}
