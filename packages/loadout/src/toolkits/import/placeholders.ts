/**
 * Finds documentation placeholders such as `YOUR_API_KEY`, `<token>`, `xxx` and `/path/to/folder`. Each becomes an
 * input (`${NAME}`), because stored as a value it would only fail later.
 */

import type { JsonObject } from '../../schema/json.ts'
import { isObject } from '../../util/is-object.ts'

/** Patterns of a whole value, after a scheme such as `Bearer `. */
const WHOLE = [
  /^<[^<>]{1,80}>$/,
  /^\[[A-Z][A-Z0-9 _-]{2,60}\]$/,
  /^\{\{?[A-Za-z][\w .-]{1,60}\}\}?$/,
  /^(your|my|insert|replace|add|enter|paste|put)[-_ ].{1,80}$/i,
  /^.{0,60}[-_ ](here|goes[-_ ]here)$/i,
  /^[a-z]{0,8}[-_]?x{3,}([-_.]x{2,})*$/i,
  /^[a-z]{0,12}[-_]?(\.{3,}|…|\*{3,})$/i,
  /^(change[-_ ]?me|changeit|todo|tbd|placeholder|dummy|redacted)$/i,
  /^(the[-_ ])?(api|access|auth|secret|bearer|personal)[-_ ]?(access[-_ ]?)?(api[-_ ]?)?(key|token|secret)$/i,
]
const PATHS = [
  /^([A-Za-z]:)?[\\/]?(absolute[\\/])?path[\\/]to[\\/].{1,200}$/i,
  /^([A-Za-z]:)?[\\/](Users|home)[\\/](you|user|username|your[-_]?user(name)?|yourname|<[^<>]+>|\[[^\]]+\])([\\/].{0,200})?$/i,
  /^([A-Za-z]:)?[\\/]?(absolute|full|your)[\\/](path|absolute)[\\/].{0,200}$/i,
]
/** Placeholder inside a longer value: `https://host/<id>/mcp`, `--api-key=YOUR_KEY`. */
const PART = /<[A-Za-z][\w .-]{1,60}>|(?:\bYOUR[-_]|(?<=[=:]|:\/\/)your[-_])(?:[A-Za-z0-9]+[-_]?){1,8}/g
const SCHEME = /^(Bearer|Basic|Token|token|ApiKey)\s+/
const FLAG = /^(--?[\w-]+=)([\s\S]+)$/
const FIELDS = ['env', 'headers', 'args', 'url', 'cwd', 'auth', 'oauth'] as const
const MAX_LENGTH = 500

export interface PlaceholderMatch {
  path: string
  text: string
  name: string
}

/** Replaces the placeholders of a record and returns their paths. */
export function takePlaceholders(record: JsonObject): PlaceholderMatch[] {
  const matches: PlaceholderMatch[] = []
  const note = (path: string, name: string) => (text: string) => {
    matches.push({ path, text, name })
    return `\${${name}}`
  }
  for (const field of FIELDS) {
    const value = record[field]
    if (typeof value === 'string') record[field] = replacePlaceholders(value, {}, (name) => note(field, name))
    else if (Array.isArray(value)) record[field] = replaceInArgs(value, (at, name) => note(`${field}.${at}`, name))
    else if (isObject(value))
      record[field] = Object.fromEntries(
        Object.entries(value).map(([key, text]) => [
          key,
          typeof text === 'string'
            ? replacePlaceholders(text, { name: nameFrom(key), key }, (name) => note(`${field}.${key}`, name))
            : text,
        ]),
      )
  }
  return matches
}

type Note = (name: string) => (text: string) => string

/** `"OPENAI_API_KEY": "OPENAI_API_KEY"`: the variable name instead of its value. */
const isOwnName = (text: string, key: string) => text === key && /^[A-Z][A-Z0-9_]{3,}$/.test(key)

function replaceInArgs(
  args: readonly unknown[],
  note: (at: number, name: string) => (text: string) => string,
): unknown[] {
  return args.map((arg, at) => {
    if (typeof arg !== 'string') return arg
    const before = args[at - 1]
    const flag = typeof before === 'string' && /^--?[A-Za-z]/.test(before) && !before.includes('=') ? before : undefined
    const assigned = FLAG.exec(arg) ?? /^([A-Z][A-Z0-9_]*=)([\s\S]+)$/.exec(arg)
    if (assigned) {
      const [, head = '', value = ''] = assigned
      return (
        head + replacePlaceholders(value, { name: nameFrom(head), key: head.slice(0, -1) }, (name) => note(at, name))
      )
    }
    return replacePlaceholders(arg, { name: flag === undefined ? undefined : nameFrom(flag) }, (name) => note(at, name))
  })
}

/** Key and input name of a value. */
interface Slot {
  name?: string | undefined
  key?: string | undefined
}

/** `name` is the input name of the slot; without one, the placeholder text becomes the name. */
function replacePlaceholders(text: string, { name, key }: Slot, note: Note): string {
  if (text.length > MAX_LENGTH || text.includes('${')) return text
  const scheme = SCHEME.exec(text)?.[0] ?? ''
  const rest = text.slice(scheme.length)
  const isWhole =
    WHOLE.some((form) => form.test(rest)) || PATHS.some((form) => form.test(rest)) || isOwnName(rest, key ?? '')
  if (isWhole) return scheme + note(name ?? nameFrom(rest))(rest)
  return text.replace(PART, (part) => note(nameFrom(part))(part))
}

/** `--api-key` and `<api key>` become `API_KEY`. */
const nameFrom = (text: string) =>
  text
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .toUpperCase()
    .slice(0, 60) || 'VALUE'
