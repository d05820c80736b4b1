/**
 * Moves the secrets of a context toolkit out of the record into a non-enumerable symbol property; the record has
 * `${secret:carried.…}` instead. Logs, storage and copies of the context contain no secret, and only the original
 * object can connect. References to stored secrets stay.
 */
import type { Toolkit } from '../../schema/toolkit/toolkit.ts'
import { fillSecrets, takeSecrets } from './secrets.ts'
import { PLACEHOLDER } from './url-secrets.ts'

const SECRETS = Symbol('secrets of a carried toolkit')
const NONE: Readonly<Record<string, string>> = Object.freeze({})

type WithHiddenSecrets = Toolkit & { [SECRETS]?: Readonly<Record<string, string>> }

/** Secrets that the record object has. */
export const contextSecrets = (toolkit: Toolkit): Readonly<Record<string, string>> =>
  (toolkit as WithHiddenSecrets | null | undefined)?.[SECRETS] ?? NONE

/** Returns the toolkit with hidden secrets, merged with `before`. */
export function hideSecrets(toolkit: Toolkit, before: Readonly<Record<string, string>> = NONE): Toolkit {
  const references: string[] = []
  const mark = `r${crypto.randomUUID().slice(0, 8)}`
  // A reference is no secret: a marker replaces it while secrets are extracted.
  const marked = mapTexts(toolkit.server, (text) =>
    text.replace(PLACEHOLDER, (reference) => `${mark}${references.push(reference) - 1}x`),
  )
  const { server, secrets } = takeSecrets(marked, [])
  const inlineSecrets = Object.entries(secrets).filter(([, value]) => !value.includes(mark))
  const placeholders = Object.fromEntries(inlineSecrets.map(([field]) => [field, `\${secret:carried.${field}}`]))
  const publicServer = mapTexts(fillSecrets(server, { ...secrets, ...placeholders }), (text) =>
    text.replace(new RegExp(`${mark}(\\d+)x`, 'g'), (_, index: string) => references[Number(index)] ?? ''),
  )
  const values = Object.fromEntries(inlineSecrets.map(([field, value]) => [`carried.${field}`, value]))
  const hidden: WithHiddenSecrets = { ...toolkit, server: publicServer }
  Object.defineProperty(hidden, SECRETS, { value: Object.freeze({ ...before, ...values }) })
  return hidden
}

function mapTexts<T>(value: T, change: (text: string) => string): T {
  const mapped = (node: unknown): unknown => {
    if (typeof node === 'string') return change(node)
    if (Array.isArray(node)) return node.map(mapped)
    if (typeof node !== 'object' || node === null) return node
    return Object.fromEntries(Object.entries(node).map(([key, inner]) => [key, mapped(inner)]))
  }
  return mapped(value) as T
}
