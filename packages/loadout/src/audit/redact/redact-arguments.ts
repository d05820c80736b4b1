/**
 * Arguments as they may be shown and kept: by the tool's schema (`writeOnly`, `format: "password"`), by names that look
 * like a secret's, and by values that are, or contain, a stored credential or the known form of a key. It errs on the side
 * of secret, never throws, and its work and what it gives are bounded: schemas and arguments are anybody's. For the log a
 * part of them is enough; who is asked about a call sees the `whole` of it, with nothing but secrets hidden.
 */
import type { JsonObject } from '../../schema/json.ts'
import { isSecretArgument, maskKeyForms } from '../../toolkits/secrets/looks-secret.ts'
import { formsOf, MASK, maskForms } from '../../toolkits/secrets/redact.ts'
import { storableText } from '../entry.ts'
import { SchemaNodes } from './schema-nodes.ts'

export interface RedactOptions {
  /** The tool's input schema. */
  schema?: unknown
  /** Stored credentials of the toolkit. The same list is best given as the same array. */
  secrets?: readonly string[] | undefined
  /** About how many characters it gives at most. @default 6000 */
  most?: number
  /** Nothing is cut. For arguments whose size was looked at. */
  whole?: boolean
}

export type Redactor = (args: JsonObject, options?: RedactOptions) => JsonObject

interface Bounds {
  most: number
  text: number
  name: number
  items: number
  depth: number
  /** Of looking into the schema. */
  steps?: number
}

const PART: Bounds = { most: 6000, text: 500, name: 100, items: 50, depth: 10 }
const NONE = Number.POSITIVE_INFINITY
const WHOLE: Bounds = { most: NONE, text: NONE, name: NONE, items: NONE, depth: 200, steps: 1_000_000 }
const MAX_NUMBER_LENGTH = 100
const CUT = '…'
/** As much of a key as is needed to know its form. */
const KEY_REACH = 64

/** What there is to find of a list of secrets, worked out once. */
interface SecretPatterns {
  whole: ReadonlySet<string>
  forms: readonly string[]
  longest: number
}

/** One that remembers what it worked out, for those who redact often. */
export function createRedactor(): Redactor {
  const cache = new WeakMap<readonly string[], SecretPatterns>()
  const patternsFor = (secrets: readonly string[]) => {
    const patterns = cache.get(secrets) ?? compilePatterns(secrets)
    cache.set(secrets, patterns)
    return patterns
  }
  return (args, { schema, secrets = [], most = PART.most, whole = false } = {}) => {
    try {
      const bounds = whole ? WHOLE : { ...PART, most }
      const walk = new Walk(patternsFor(secrets), new SchemaNodes(schema, bounds.steps), bounds)
      return walk.object(args, walk.nodes.root, 0)
    } catch {
      return { redacted: true }
    }
  }
}

export function redactArguments(args: JsonObject, options?: RedactOptions): JsonObject {
  return createRedactor()(args, options)
}

function compilePatterns(secrets: readonly string[]): SecretPatterns {
  const forms = formsOf(secrets)
  return {
    whole: new Set(secrets.filter((secret) => secret !== '')),
    forms,
    longest: Math.max(KEY_REACH, forms[0]?.length ?? 0),
  }
}

class Walk {
  readonly nodes: SchemaNodes
  readonly #patterns: SecretPatterns
  readonly #bounds: Bounds
  #left: number

  constructor(patterns: SecretPatterns, nodes: SchemaNodes, bounds: Bounds) {
    this.#patterns = patterns
    this.nodes = nodes
    this.#bounds = bounds
    this.#left = bounds.most
  }

  object(value: JsonObject, schemas: readonly JsonObject[], depth: number): JsonObject {
    const redacted: JsonObject = {}
    let count = 0
    for (const name of Object.keys(value)) {
      if (++count > this.#bounds.items || this.#left <= 0) {
        redacted[CUT] = `${Object.keys(value).length - count + 1} more`
        break
      }
      const inner = value[name]
      const own = this.nodes.property(schemas, name)
      const hidden = inner !== null && (this.nodes.isSecret(own) || isSecretArgument(name, inner))
      redacted[this.#freeName(redacted, name)] = hidden ? this.#mask() : this.#value(inner, own, depth + 1)
    }
    return redacted
  }

  #value(value: unknown, schemas: readonly JsonObject[], depth: number): unknown {
    if (this.nodes.isSpent) return this.#mask()
    if (typeof value === 'string') return this.#text(value, this.#bounds.text)
    if (typeof value === 'number' || typeof value === 'bigint') return this.#number(value)
    if (typeof value !== 'object' || value === null) return typeof value === 'boolean' ? value : null
    if (depth > this.#bounds.depth || this.#left <= 0) return CUT
    this.#left -= 2
    return Array.isArray(value) ? this.#list(value, schemas, depth) : this.object(value as JsonObject, schemas, depth)
  }

  #list(value: readonly unknown[], schemas: readonly JsonObject[], depth: number): unknown[] {
    const redacted: unknown[] = []
    for (let index = 0; index < value.length; index++) {
      if (index >= this.#bounds.items || this.#left <= 0) {
        redacted.push(`${CUT} ${value.length - index} more`)
        break
      }
      const own = this.nodes.item(schemas, index)
      const inner = value[index]
      redacted.push(inner !== null && this.nodes.isSecret(own) ? this.#mask() : this.#value(inner, own, depth + 1))
    }
    return redacted
  }

  #number(value: number | bigint): number | string {
    this.#left -= 8
    const text = String(value)
    if (text.length > 3 && this.#patterns.whole.has(text)) return MASK
    return typeof value === 'number' && Number.isFinite(value) ? value : text.slice(0, MAX_NUMBER_LENGTH)
  }

  // Looked at before it is cut, with as much more as a secret could reach beyond the cut.
  #text(text: string, longest: number): string {
    const most = Math.max(0, Math.min(longest, this.#left))
    const { whole, forms, longest: reach } = this.#patterns
    if (whole.has(text)) return this.#mask()
    const isCut = text.length > most
    let redacted = isCut ? text.slice(0, most + reach) : text
    redacted = maskKeyForms(redacted, MASK)
    redacted = maskForms(redacted, forms)
    // The end of what was looked at may be the beginning of a secret, also where masks have moved it forward.
    if (isCut)
      redacted = `${redacted.slice(0, Math.min(most, Math.max(0, redacted.length - reach)))}${CUT} (${text.length})`
    this.#left -= redacted.length + 2
    return storableText(redacted)
  }

  /** Two names that are hidden are told apart, so that neither hides the other. */
  #freeName(among: JsonObject, name: string): string {
    const redacted = this.#name(name)
    let free = redacted
    for (let count = 2; Object.hasOwn(among, free); count++) free = `${redacted} (${count})`
    return free
  }

  #name(name: string): string {
    const redacted = this.#text(name, this.#bounds.name)
    // Assigning to it would change the object instead.
    return redacted === '__proto__' ? '(__proto__)' : redacted
  }

  #mask(): string {
    this.#left -= MASK.length
    return MASK
  }
}
