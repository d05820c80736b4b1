/**
 * Parses `${…}` in a text: `${NAME}`, `${NAME:-default}`, `${env:NAME}`, `${input:id}`, `${userHome}` and others. One
 * pass, so a hostile text costs no more than its length. Nothing is looked up here.
 */

export interface Variable {
  /** Source text. */
  raw: string
  /** Undefined when the braces contain no valid name. */
  name: string | undefined
  /** `${secret:…}`, the placeholder of a stored secret of an unknown owner. */
  isSecretRef: boolean
  fallback: TemplatePart[] | undefined
}

export type TemplatePart = string | Variable

export interface VariableTemplate {
  parts: TemplatePart[]
  /** Whether a `${` is unclosed; it stays as text. */
  unclosed: boolean
}

interface Frame {
  from: number
  parts: TemplatePart[]
}

const MAX_DEPTH = 8
const MAX_NAME_LENGTH = 200

export function readVariables(text: string): VariableTemplate {
  const root: Frame = { from: 0, parts: [] }
  const open: Frame[] = []
  let at = 0
  for (const { 0: brace, index } of text.matchAll(/\$\{|\}/g)) {
    const top = open.at(-1)
    if (brace === '}' && !top) continue
    add(top ?? root, text.slice(at, index))
    at = index + brace.length
    if (brace === '${') open.push({ from: index, parts: [] })
    else if (top) {
      open.pop()
      add(open.at(-1) ?? root, variableOf(text.slice(top.from, at), top.parts, open.length))
    }
  }
  add(open.at(-1) ?? root, text.slice(at))
  const unclosed = open.length > 0
  for (const frame of open) add(root, '${', ...frame.parts)
  return { parts: root.parts, unclosed }
}

function add(frame: Frame, ...parts: TemplatePart[]): void {
  for (const part of parts) if (part !== '') frame.parts.push(part)
}

const KINDS = /^(env|input|secret):/
// Aliases of one variable.
const SPELLINGS: Record<string, string> = { '/': 'pathSeparator' }

function variableOf(raw: string, parts: readonly TemplatePart[], depth: number): Variable {
  const [first = '', ...rest] = parts
  const text = typeof first === 'string' ? first : ''
  const divider = text.indexOf(':-')
  const fallback = divider < 0 ? undefined : [text.slice(divider + 2), ...rest].filter((part) => part !== '')
  const inner = (divider < 0 ? text : text.slice(0, divider)).trim()
  const bare = inner.replace(KINDS, '')
  const name = Object.hasOwn(SPELLINGS, bare) ? SPELLINGS[bare] : bare
  const readable =
    depth < MAX_DEPTH &&
    typeof first === 'string' &&
    (divider >= 0 || rest.length === 0) &&
    name !== undefined &&
    name.length <= MAX_NAME_LENGTH &&
    /^[^\p{Cc}\p{Cf}]+$/u.test(name)
  const isSecretRef = inner.startsWith('secret:')
  return readable ? { raw, name, isSecretRef, fallback } : { raw, name: undefined, isSecretRef, fallback: undefined }
}

/** Yields every variable of a template, including those in defaults of others. */
export function* variablesIn(parts: readonly TemplatePart[]): Generator<Variable> {
  for (const part of parts) {
    if (typeof part === 'string') continue
    yield part
    yield* variablesIn(part.fallback ?? [])
  }
}
