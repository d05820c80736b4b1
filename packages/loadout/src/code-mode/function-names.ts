/**
 * Names of tools in programs: `toolkit.tool`. The object is the toolkit ID with `-` as `_`; a tool keeps its own name,
 * quoted if needed (`everything["get-sum"]`) with an unquoted alias (`everything.get_sum`). Guarantees:
 *
 * - Object and name, or alias, are unique, and no object shadows a word of the language or the sandbox.
 * - Names with a meaning for all objects (`then`, `constructor`) get a `_` suffix.
 * - The same tools get the same names in any order; valid names stay unchanged.
 */
import type { LoadoutEntry } from '../schema/toolkit/loadout-entry.ts'

export interface CodeName {
  object: string
  name: string
  /** Aliases under the same object. */
  aliases: readonly string[]
}

export type Named = Pick<LoadoutEntry, 'ref' | 'toolkit' | 'tool'>

/** Globals of every program, besides those of the language. */
export const PROGRAM_GLOBALS: readonly string[] = ['console', 'input', 'search', 'describe']

export interface CodeNameOptions {
  /** Additional globals, such as `fetch`, that no toolkit may shadow. */
  reserved?: Iterable<string> | undefined
}

/** Names by ref, unique among `entries`: pass all tools that a program may call. */
export function codeNames(entries: Iterable<Named>, { reserved = [] }: CodeNameOptions = {}): Map<string, CodeName> {
  const toolsOf = new Map<string, Named[]>()
  for (const entry of entries) {
    const tools = toolsOf.get(entry.toolkit)
    if (tools) tools.push(entry)
    else toolsOf.set(entry.toolkit, [entry])
  }
  const objects = assignNames(toolsOf.keys(), {
    clean: (id) => startingWell(id.replace(/[^A-Za-z0-9_$]/g, '_')),
    taken: new Set([...LANGUAGE, ...PROGRAM_GLOBALS, ...reserved]),
  })
  const names = new Map<string, CodeName>()
  for (const [toolkit, tools] of toolsOf)
    for (const [ref, name] of namesOf(tools)) names.set(ref, { object: objects.get(toolkit) as string, ...name })
  return names
}

function namesOf(tools: readonly Named[]): Map<string, Omit<CodeName, 'object'>> {
  const refs = new Map(tools.map(({ tool, ref }) => [tool, ref]))
  const names = assignNames(refs.keys(), { clean: (tool) => tool, taken: MEMBERS })
  const taken = new Set(names.values())
  const wanted = new Map<string, number>()
  for (const name of taken) wanted.set(aliasOf(name), (wanted.get(aliasOf(name)) ?? 0) + 1)
  const result = new Map<string, Omit<CodeName, 'object'>>()
  for (const [tool, ref] of refs) {
    const name = names.get(tool) as string
    const alias = aliasOf(name)
    // An alias of two tools would be ambiguous.
    const isFree = alias !== name && !taken.has(alias) && wanted.get(alias) === 1 && !MEMBERS.has(alias)
    result.set(ref, { name, aliases: isFree ? [alias] : [] })
  }
  return result
}

const IDENTIFIER = /^[A-Za-z_$][A-Za-z0-9_$]*$/
export const isIdentifier = (name: string): boolean => IDENTIFIER.test(name)

/** Source text of the function: `object.name` or `object["na-me"]`. */
export function inCode({ object, name }: Pick<CodeName, 'object' | 'name'>): string {
  return isIdentifier(name) ? `${object}.${name}` : `${object}[${quoted(name)}]`
}

/** JavaScript string literal. */
export const quoted = (text: string): string =>
  JSON.stringify(text).replace(/[\u2028\u2029]/g, (end) => (end === '\u2028' ? '\\u2028' : '\\u2029'))

const aliasOf = (name: string) => startingWell(name.replace(/[^A-Za-z0-9_$]/gu, '_'))
const startingWell = (name: string) => (/^[A-Za-z_$]/.test(name) ? name : `_${name}`)

interface NameRules {
  clean(key: string): string
  taken: ReadonlySet<string>
}

/** Assigns a unique name to each key: valid keys keep their name, the others follow in sorted order. */
function assignNames(keys: Iterable<string>, { clean, taken }: NameRules): Map<string, string> {
  const names = new Map<string, string>()
  const used = new Set(taken)
  const allKeys = [...keys]
  const changed: string[] = []
  for (const key of allKeys) {
    if (clean(key) !== key || used.has(key)) changed.push(key)
    else {
      names.set(key, key)
      used.add(key)
    }
  }
  for (const key of changed.sort()) {
    const name = freeName(taken.has(clean(key)) ? `${clean(key)}_` : clean(key), used)
    names.set(key, name)
    used.add(name)
  }
  return names
}

function freeName(wanted: string, used: ReadonlySet<string>): string {
  if (!used.has(wanted)) return wanted
  for (let count = 2; ; count++) if (!used.has(`${wanted}_${count}`)) return `${wanted}_${count}`
}

/** Properties that promises, serializers or the language read from any object. */
const MEMBERS: ReadonlySet<string> = new Set([
  ...Object.getOwnPropertyNames(Object.prototype),
  'then',
  'toJSON',
  'prototype',
  'caller',
  'callee',
  'arguments',
])

/** Reserved words and globals of the language. */
const LANGUAGE: readonly string[] = [
  ...'await break case catch class const continue debugger default delete do else enum export extends false'.split(' '),
  ...'finally for function if implements import in instanceof interface let new null package private'.split(' '),
  ...'protected public return static super switch this throw true try typeof var void while with yield'.split(' '),
  ...'arguments async eval globalThis undefined NaN Infinity isFinite isNaN parseFloat parseInt escape'.split(' '),
  ...'unescape decodeURI decodeURIComponent encodeURI encodeURIComponent Object Function Array String'.split(' '),
  ...'Number Boolean Symbol BigInt Math Date RegExp JSON Promise Proxy Reflect Map Set WeakMap WeakSet'.split(' '),
  ...'WeakRef FinalizationRegistry Error AggregateError EvalError RangeError ReferenceError SyntaxError'.split(' '),
  ...'TypeError URIError SuppressedError ArrayBuffer SharedArrayBuffer DataView Atomics Int8Array'.split(' '),
  ...'Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array Float16Array Float32Array'.split(' '),
  ...'Float64Array BigInt64Array BigUint64Array Iterator AsyncIterator Intl DisposableStack'.split(' '),
  ...'AsyncDisposableStack Temporal'.split(' '),
]
