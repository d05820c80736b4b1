/**
 * Secrets of a toolkit that an execution context carries: out of the record, which has `${secret:carried.…}` in their place, and
 * beside it under a symbol that is not enumerable. So whoever logs, stores or copies the context has none of them, and only who
 * has the record itself connects with them. What refers to a stored secret stays the reference that it is.
 */
import type { Toolkit } from '../../schema/toolkit/toolkit.ts'
import { fillSecrets, takeSecrets } from './secrets.ts'
import { PLACEHOLDER } from './url-secrets.ts'

const SECRETS = Symbol('secrets of a carried toolkit')
const NONE: Readonly<Record<string, string>> = Object.freeze({})

type WithHiddenSecrets = Toolkit & { [SECRETS]?: Readonly<Record<string, string>> }

/** What the record itself carries. */
export const contextSecrets = (toolkit: Toolkit): Readonly<Record<string, string>> =>
  (toolkit as WithHiddenSecrets | null | undefined)?.[SECRETS] ?? NONE

/** The same toolkit with its secrets out of sight, beside those that were before. */
export function hideSecrets(toolkit: Toolkit, before: Readonly<Record<string, string>> = NONE): Toolkit {
  const references: string[] = []
  const mark = `r${crypto.randomUUID().slice(0, 8)}`
  // A reference is no secret: a mark stands for it while secrets are looked for.
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
