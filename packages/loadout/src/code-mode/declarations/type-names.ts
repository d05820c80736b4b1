/**
 * Names the types of definitions across all declared tools: equal types share one declaration, different types have
 * different names, and no name shadows a built-in type.
 */

import type { Definition, TypeDraft } from './schema-to-type.ts'
import { inBrackets } from './type-text.ts'

/** Types added by one tool. */
export interface NamedDraft {
  /** Type texts with names filled in. */
  texts: string[]
  /** New declarations by name. */
  added: Map<string, { text: string; identity: string }>
}

const SLOT = /\0(\d+)\0/g
/** Shorter types are inlined. */
const MAX_INLINE_LENGTH = 60

export class TypeNames {
  /** Type identity by name. */
  readonly #identities = new Map<string, string>()

  /** `owner`: words that distinguish types of this tool. Nothing is stored until `keep`. */
  name(drafts: readonly TypeDraft[], owner: readonly string[]): NamedDraft {
    const added: NamedDraft['added'] = new Map()
    const texts = drafts.map((draft) => this.#nameOne(draft, owner, added))
    return { texts, added }
  }

  keep({ added }: NamedDraft): void {
    for (const [name, { identity }] of added) this.#identities.set(name, identity)
  }

  #nameOne({ type, definitions }: TypeDraft, owner: readonly string[], added: NamedDraft['added']): string {
    const names = new Map<number, string>()
    const nameOf = (index: number): string => {
      const existing = names.get(index)
      const definition = definitions[index]
      if (existing !== undefined || !definition) return existing ?? 'unknown'
      const identity = identityOf(definitions, index)
      const name = this.#free(definition.hint, { owner, identity, added })
      names.set(index, name)
      if (this.#identities.get(name) === identity || added.has(name)) return name
      added.set(name, { text: '', identity })
      const text = `${definition.comment}type ${name} = ${filled(definition.type.text)};\n`
      added.set(name, { text, identity })
      return name
    }
    const filled = (text: string): string =>
      text.replace(SLOT, (_, slot: string) => inlined(definitions[Number(slot)]) ?? nameOf(Number(slot)))
    return filled(type.text)
  }

  #free(
    hint: string,
    { owner, identity, added }: { owner: readonly string[]; identity: string } & Pick<NamedDraft, 'added'>,
  ) {
    const short = pascal(hint) || 'Value'
    const isFree = (name: string) => {
      const existing = this.#identities.get(name) ?? added.get(name)?.identity
      return !LANGUAGE_TYPES.has(name) && (existing === undefined || existing === identity)
    }
    const wanted = [short, ...owner.map((_, index) => pascal(owner.slice(0, index + 1).join(' ')) + short)]
    const found = wanted.find(isFree)
    if (found !== undefined) return found
    for (let count = 2; ; count++) if (isFree(`${wanted.at(-1)}${count}`)) return `${wanted.at(-1)}${count}`
  }
}

/** Identity of a definition with all that it references, independent of indexes. */
function identityOf(definitions: readonly Definition[], index: number): string {
  const order = [index]
  const texts: string[] = []
  for (let at = 0; at < order.length; at++) {
    const definition = definitions[order[at] as number]
    const text = definition?.type.text.replace(SLOT, (_, slot: string) => {
      const next = Number(slot)
      if (!order.includes(next)) order.push(next)
      return `\0${order.indexOf(next)}\0`
    })
    texts.push(`${definition?.hint}\0${definition?.comment}\0${text}`)
  }
  return texts.join('\n')
}

function inlined(definition: Definition | undefined): string | undefined {
  if (!definition) return 'unknown'
  const { type, comment } = definition
  const isShort = type.text.length <= MAX_INLINE_LENGTH && !/[\0\n]/.test(type.text) && comment === ''
  return isShort || type.text === 'unknown' ? inBrackets(type) : undefined
}

const MAX_NAME_LENGTH = 48

function pascal(words: string): string {
  const name = words
    .slice(0, 4 * MAX_NAME_LENGTH)
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
    .slice(0, MAX_NAME_LENGTH)
  return /^\d/.test(name) ? `T${name}` : name
}

/** Built-in types of TypeScript. */
const LANGUAGE_TYPES: ReadonlySet<string> = new Set([
  ...'Object Function Array String Number Boolean Symbol BigInt Math Date RegExp JSON Promise Proxy Reflect'.split(' '),
  ...'Map Set WeakMap WeakSet WeakRef WeakKey Error AggregateError EvalError RangeError ReferenceError'.split(' '),
  ...'SyntaxError TypeError URIError SuppressedError ArrayBuffer SharedArrayBuffer DataView Atomics Iterator'.split(
    ' ',
  ),
  ...'Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array Float16Array'.split(' '),
  ...'Float32Array Float64Array BigInt64Array BigUint64Array Intl Generator AsyncGenerator Iterable'.split(' '),
  ...'AsyncIterable AsyncIterator IteratorResult IterableIterator AsyncIterableIterator ArrayLike PromiseLike'.split(
    ' ',
  ),
  ...'ReadonlyArray ReadonlyMap ReadonlySet TemplateStringsArray CallableFunction NewableFunction IArguments'.split(
    ' ',
  ),
  ...'PropertyKey PropertyDescriptor PropertyDescriptorMap ThisType Partial Required Readonly Pick Record'.split(' '),
  ...'Exclude Extract Omit NonNullable Parameters ConstructorParameters ReturnType InstanceType Uppercase'.split(' '),
  ...'Lowercase Capitalize Uncapitalize Awaited NoInfer ThisParameterType OmitThisParameter ErrorOptions'.split(' '),
  ...'PromiseSettledResult PromiseFulfilledResult PromiseRejectedResult RegExpMatchArray RegExpExecArray'.split(' '),
  ...'ConcatArray FlatArray ArrayIterator MapIterator SetIterator StringIterator IteratorObject'.split(' '),
  ...'AsyncIteratorObject ArrayBufferLike ArrayBufferView ArrayBufferTypes ArrayBufferConstructor'.split(' '),
  ...'PromiseConstructor ObjectConstructor IteratorYieldResult IteratorReturnResult BuiltinIteratorReturn'.split(' '),
  ...'Disposable AsyncDisposable DisposableStack AsyncDisposableStack FinalizationRegistry Temporal'.split(' '),
  ...'PromiseWithResolvers PromiseConstructorLike TypedPropertyDescriptor ProxyHandler EvalErrorConstructor'.split(' '),
  ...'ClassDecorator PropertyDecorator MethodDecorator ParameterDecorator DecoratorContext UnicodeBCP47LocaleIdentifier'.split(
    ' ',
  ),
])
