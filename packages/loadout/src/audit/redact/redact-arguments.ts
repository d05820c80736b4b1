/**
 * Redacts arguments for display and storage: by the tool's schema (`writeOnly`, `format: "password"`), by names that
 * look like a secret, and by values that contain a stored credential or match the format of a key. When in doubt, a
 * value is redacted. It never throws, and its work and output are bounded, because schemas and arguments are untrusted.
 * The log stores a part; approval requests show the `whole`.
 */
import type { JsonObject } from '../../schema/json.ts'
import { isSecretArgument, maskKeyForms } from '../../toolkits/secrets/looks-secret.ts'
import { formsOf, MASK, maskForms } from '../../toolkits/secrets/redact.ts'
import { storableText } from '../entry.ts'
import { SchemaNodes } from './schema-nodes.ts'

export interface RedactOptions {
  /** The tool's input schema. */
  schema?: unknown
  /** Stored credentials of the toolkit. Pass the same array for the same list, because it is the cache key. */
  secrets?: readonly string[] | undefined
  /** Approximate maximum number of characters. @default 6000 */
  most?: number
  /** Cuts nothing. Check the size of the arguments first. */
  whole?: boolean
}

export type Redactor = (args: JsonObject, options?: RedactOptions) => JsonObject

interface Bounds {
  most: number
  text: number
  name: number
  items: number
  depth: number
  /** Step budget for walking the schema. */
  steps?: number
}

const PART: Bounds = { most: 6000, text: 500, name: 100, items: 50, depth: 10 }
const NONE = Number.POSITIVE_INFINITY
const WHOLE: Bounds = { most: NONE, text: NONE, name: NONE, items: NONE, depth: 200, steps: 1_000_000 }
const MAX_NUMBER_LENGTH = 100
const CUT = '…'
/** Number of characters that identify the format of a key. */
const KEY_REACH = 64

/** Search patterns of a list of secrets. */
interface SecretPatterns {
  whole: ReadonlySet<string>
  forms: readonly string[]
  longest: number
}

/** Creates a redactor that caches the patterns of each list of secrets. */
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

  // Redact before cutting, including as many characters after the cut as a secret can have.
  #text(text: string, longest: number): string {
    const most = Math.max(0, Math.min(longest, this.#left))
    const { whole, forms, longest: reach } = this.#patterns
    if (whole.has(text)) return this.#mask()
    const isCut = text.length > most
    let redacted = isCut ? text.slice(0, most + reach) : text
    redacted = maskKeyForms(redacted, MASK)
    redacted = maskForms(redacted, forms)
    // The end of the inspected text may be the start of a secret, also after masks have moved it forward.
    if (isCut)
      redacted = `${redacted.slice(0, Math.min(most, Math.max(0, redacted.length - reach)))}${CUT} (${text.length})`
    this.#left -= redacted.length + 2
    return storableText(redacted)
  }

  /** Numbers redacted names, so that two of them do not overwrite each other. */
  #freeName(among: JsonObject, name: string): string {
    const redacted = this.#name(name)
    let free = redacted
    for (let count = 2; Object.hasOwn(among, free); count++) free = `${redacted} (${count})`
    return free
  }

  #name(name: string): string {
    const redacted = this.#text(name, this.#bounds.name)
    // Assigning to `__proto__` would change the prototype of the object.
    return redacted === '__proto__' ? '(__proto__)' : redacted
  }

  #mask(): string {
    this.#left -= MASK.length
    return MASK
  }
}
