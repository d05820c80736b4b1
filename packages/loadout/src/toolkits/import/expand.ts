/**
 * Puts values in the place of variables. A value is not read again: what looks like a variable in it stays text. The value
 * of a secret input that goes into an argument or a URL becomes a placeholder, because nothing there need look like one.
 */
import type { FieldError } from '../../errors.ts'
import type { JsonObject } from '../../schema/json.ts'
import { PLACEHOLDER } from '../url-secrets.ts'
import { type FoundInput, inputName, mapTexts, type Spot } from './inputs.ts'
import { type Part, readTemplate, type Variable } from './variables.ts'

export interface Expanded {
  record: JsonObject
  /** Values behind the placeholders of the record, by field. */
  secrets: Record<string, string>
  /** Inputs that nobody gave a value, with the places that wait for it. */
  missing: Map<string, string[]>
  warnings: string[]
  problems: FieldError[]
}

export interface Known {
  entry: string
  values: Readonly<Record<string, string>>
  inputs: ReadonlyMap<string, FoundInput>
}

/** Environment and headers are secrets as a whole, wherever their values come from. */
const HIDDEN_IN = new Set(['args', 'url'])

export function expandRecord(record: JsonObject, known: Known): Expanded {
  const expander = new Expander(known)
  const { secrets, missing, warnings, problems } = expander
  return { record: mapTexts(record, (text, spot) => expander.text(text, spot)), secrets, missing, warnings, problems }
}

class Expander {
  readonly secrets: Record<string, string> = {}
  readonly missing = new Map<string, string[]>()
  readonly warnings: string[] = []
  readonly problems: FieldError[] = []
  readonly #known: Known

  constructor(known: Known) {
    this.#known = known
  }

  text(text: string, spot: Spot): string {
    const { parts, unclosed } = readTemplate(text)
    if (unclosed) this.warnings.push(`"${spot.place}" holds a "\${" that is not closed; it stays as it is`)
    const plain = this.#join(parts, spot, false)
    if (!HIDDEN_IN.has(spot.field)) return plain
    const hidden = this.#join(parts, spot, true)
    // A secret that makes the host of a URL cannot be behind a placeholder: the host must be known before it is filled.
    return spot.field === 'url' && hostOf(hidden) !== hostOf(plain) ? plain : hidden
  }

  #join(parts: readonly Part[], spot: Spot, hide: boolean): string {
    return parts.map((part) => (typeof part === 'string' ? part : this.#value(part, spot, hide))).join('')
  }

  #value(variable: Variable, spot: Spot, hide: boolean): string {
    const name = inputName(variable, this.#known.entry)
    if (name === undefined) return this.#unreadable(variable, spot)
    const input = this.#known.inputs.get(name)
    const hidden = hide && input?.secret === true
    const value = this.#given(name) ?? this.#fallback(variable, spot, hide && !hidden) ?? input?.fallback
    if (value === undefined) return this.#lack(name, variable.raw, spot)
    return hidden && value !== '' ? this.#hide(spot.field, value) : value
  }

  #given(name: string): string | undefined {
    return Object.hasOwn(this.#known.values, name) ? this.#known.values[name] : undefined
  }

  #fallback({ fallback }: Variable, spot: Spot, hide: boolean): string | undefined {
    return fallback && this.#join(fallback, spot, hide)
  }

  #hide(field: string, value: string): string {
    const known = Object.keys(this.secrets).find((key) => key.startsWith(`${field}.`) && this.secrets[key] === value)
    const key = known ?? `${field}.input${Object.keys(this.secrets).length}`
    this.secrets[key] = value
    return `\${secret:${key}}`
  }

  #lack(name: string, raw: string, { place }: Spot): string {
    const places = this.missing.get(name) ?? []
    if (!places.includes(place)) places.push(place)
    this.missing.set(name, places)
    return raw
  }

  #unreadable({ raw }: Variable, { place }: Spot): string {
    if (!this.problems.some((problem) => problem.path === place))
      this.problems.push({ path: place, message: `"${raw.slice(0, 60)}" names nothing that could be given a value` })
    return raw
  }
}

const hostOf = (text: string) => URL.parse(text.replace(PLACEHOLDER, 'x'))?.host
