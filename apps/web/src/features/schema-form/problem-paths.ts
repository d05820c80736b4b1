/** Maps problem paths to form fields or to text offsets. */
import type { ErrorSchema } from '@rjsf/utils'
import type { JsonNode } from './read-json.ts'
import type { ValueProblem } from './validator.ts'

const ROOT = '(root)'

/** Splits a path into keys. Keys may contain dots, so existing keys of the value win. */
export function keysOf(path: string, value: unknown): string[] {
  if (path === ROOT || path === '') return []
  const keys: string[] = []
  let rest = path
  let at = value
  while (rest !== '') {
    const key = firstKey(rest, at)
    keys.push(key)
    rest = rest.slice(key.length + 1)
    at =
      typeof at === 'object' && at !== null && Object.hasOwn(at, key) ? (at as Record<string, unknown>)[key] : undefined
  }
  return keys
}

function firstKey(rest: string, at: unknown): string {
  const own = typeof at === 'object' && at !== null ? Object.keys(at) : []
  const matching = own.filter((key) => key !== '' && (rest === key || rest.startsWith(`${key}.`)))
  const longest = matching.reduce((best, key) => (key.length > best.length ? key : best), '')
  return longest || (rest.split('.')[0] as string) || rest
}

export function toErrorSchema(problems: readonly ValueProblem[], value: unknown): ErrorSchema {
  const root: ErrorSchema = {}
  for (const { path, message } of problems) {
    let at = root as Record<string, unknown>
    for (const key of keysOf(path, value)) {
      if (!Object.hasOwn(at, key)) Object.defineProperty(at, key, { value: {}, enumerable: true })
      at = at[key] as Record<string, unknown>
    }
    at.__errors = [...((at.__errors as string[] | undefined) ?? []), asSentence(message)]
  }
  return root
}

/** Text offsets of problems; a missing field is marked at its parent. */
export function inText(problems: readonly ValueProblem[], root: JsonNode | undefined, value: unknown) {
  return problems.map(({ path, message }) => {
    let at = root
    let missing = ''
    for (const key of keysOf(path, value)) {
      const next: JsonNode | undefined = at?.children?.get(key)
      if (!next) {
        missing = key
        break
      }
      at = next
    }
    const { from, to } = at ?? { from: 0, to: 0 }
    // Marking a whole object is useless, so only its first brace is marked.
    const end = at?.children ? from + 1 : to
    return { from, to: end, message: asSentence(missing === '' ? message : `${missing} ${message}`) }
  })
}

/** API messages continue a name, such as `is required: a string`. */
export function asSentence(message: string): string {
  const text = message.charAt(0).toUpperCase() + message.slice(1)
  return /[.!?…]$/.test(text) ? text : `${text}.`
}
