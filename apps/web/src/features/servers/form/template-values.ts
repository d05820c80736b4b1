/** Template values and their client-side validation. The server validates them again. */

import type { StdioTemplate, TemplateHole } from '../queries.ts'
import { newSecret, type Secret, type SecretRow } from './draft.ts'

/** One row per template input, in its order, with stored values. */
export function rowsFor({ holes }: StdioTemplate, storedRows: readonly SecretRow[] = []): SecretRow[] {
  return holes.map(({ name }, key) => ({
    key,
    name,
    value: storedRows.find((row) => row.name === name)?.value ?? newSecret(),
  }))
}

/** Title of an input, or its name. */
export const labelOf = (name: string, { title }: TemplateHole): string => title ?? name

/** Errors by row key. */
export function valueMistakes({ holes }: StdioTemplate, rows: readonly SecretRow[]): Record<string, string> {
  const mistakes = rows.flatMap(({ key, name, value }) => {
    const hole = holes.find((item) => item.name === name)?.hole
    const mistake = hole && isTyped(value) ? mistakeIn(hole, value.text) : undefined
    return mistake === undefined ? [] : [[`values#${key}`, mistake] as const]
  })
  return Object.fromEntries(mistakes)
}

const isTyped = ({ stored, replaced }: Secret) => stored === '' || replaced

export function mistakeIn(hole: TemplateHole, text: string): string | undefined {
  if (text.trim() === '') return 'Give a value.'
  if (hole.type === 'integer') return integerMistake(hole, text)
  if (hole.type === 'enum') return hole.values.includes(text) ? undefined : 'Choose one of them.'
  if (text.length > hole.maxLength) return `Give at most ${hole.maxLength} characters.`
  if (hole.type === 'path') return pathMistake(hole.roots, text)
  if (hole.type === 'url' && !/^https?:$/.test(URL.parse(text)?.protocol ?? '')) return 'Give an http or https URL.'
  return hole.pattern !== undefined && !fits(hole.pattern, text) ? 'This is not the form that is asked for.' : undefined
}

function integerMistake({ min, max }: Extract<TemplateHole, { type: 'integer' }>, text: string): string | undefined {
  const number = Number(text)
  if (!/^-?\d+$/.test(text)) return 'Give a whole number.'
  if (min !== undefined && number < min) return `Give ${min} or more.`
  return max !== undefined && number > max ? `Give ${max} or less.` : undefined
}

function pathMistake(roots: readonly string[], path: string): string | undefined {
  const isBelow = (root: string) => path === root || path.startsWith(`${root.replace(/\/+$/, '')}/`)
  if (!path.startsWith('/')) return 'Give the whole path, from / on.'
  return roots.some(isBelow) ? undefined : `Give a path in ${roots.join(' or ')}.`
}

// The server validates patterns that this browser does not support.
function fits(pattern: string, text: string): boolean {
  try {
    return new RegExp(`^(?:${pattern})$`, 'u').test(text)
  } catch {
    return true
  }
}
