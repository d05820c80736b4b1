/**
 * Puts values in the place of variables. A value is not read again: what looks like a variable in it stays text. The value
 * of a secret input that goes into an argument or a URL becomes a placeholder, because nothing there need look like one.
 */
import type { FieldError } from '../../errors.ts'
import type { JsonObject } from '../../schema/json.ts'
import { PLACEHOLDER } from '../secrets/url-secrets.ts'
import { type DetectedInput, inputName, mapTexts, type TextLocation } from './inputs.ts'
import { type Part, readTemplate, type Variable } from './variables.ts'

export interface Expanded {
  record: JsonObject
  /** Values behind the placeholders of the record, by field. */
  secrets: Record<string, string>
  /** Inputs that nobody gave a value, with the places that wait for it. */
  missing: Map<string, Set<string>>
  warnings: string[]
  problems: FieldError[]
}

export interface Known {
  entry: string
  values: Readonly<Record<string, string>>
  inputs: ReadonlyMap<string, DetectedInput>
}

/** Environment and headers are secrets as a whole, wherever their values come from. */
const HIDDEN_IN = new Set(['args', 'url'])

/** A short text can ask for a long value many times over: an entry grows no further than this. */
const MAX_CHARACTERS = 256 * 1024
const MAX_TOLD = 50

export function expandRecord(record: JsonObject, known: Known): Expanded {
  const expander = new Expander(known)
  const { secrets, missing, warnings, problems } = expander
  return { record: mapTexts(record, (text, spot) => expander.text(text, spot)), secrets, missing, warnings, problems }
}

class Expander {
  readonly secrets: Record<string, string> = {}
  readonly missing = new Map<string, Set<string>>()
  readonly warnings: string[] = []
  readonly problems: FieldError[] = []
  readonly #known: Known
  readonly #placeholders = new Map<string, string>()
  #length = 0

  constructor(known: Known) {
    this.#known = known
  }

  text(text: string, spot: TextLocation): string {
    if (this.#length > MAX_CHARACTERS) return text
    const { parts, unclosed } = readTemplate(text)
    if (unclosed && this.warnings.length < MAX_TOLD)
      this.warnings.push(`"${spot.place}" holds a "\${" that is not closed; it stays as it is`)
    const plain = this.#join(parts, spot, false)
    if (!HIDDEN_IN.has(spot.field)) return plain
    const hidden = this.#join(parts, spot, true)
    // A secret that makes the host of a URL cannot be behind a placeholder: the host must be known before it is filled.
    return spot.field === 'url' && hostOf(hidden) !== hostOf(plain) ? plain : hidden
  }

  #join(parts: readonly Part[], spot: TextLocation, hide: boolean): string {
    let text = ''
    for (const part of parts) {
      const piece = typeof part === 'string' ? part : this.#value(part, spot, hide)
      this.#length += piece.length
      if (this.#length > MAX_CHARACTERS) return this.#tooLong(spot)
      text += piece
    }
    return text
  }

  #value(variable: Variable, spot: TextLocation, hide: boolean): string {
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

  #fallback({ fallback }: Variable, spot: TextLocation, hide: boolean): string | undefined {
    return fallback && this.#join(fallback, spot, hide)
  }

  #hide(field: string, value: string): string {
    const known = JSON.stringify([field, value])
    const key = this.#placeholders.get(known) ?? `${field}.input${this.#placeholders.size}`
    this.#placeholders.set(known, key)
    this.secrets[key] = value
    return `\${secret:${key}}`
  }

  #lack(name: string, raw: string, { place }: TextLocation): string {
    this.missing.set(name, (this.missing.get(name) ?? new Set()).add(place))
    return raw
  }

  #unreadable({ raw }: Variable, { place }: TextLocation): string {
    this.#problem(place, `"${raw.slice(0, 60)}" names nothing that could be given a value`)
    return raw
  }

  #tooLong({ place }: TextLocation): string {
    this.#problem(place, 'makes the entry too long with its values')
    return ''
  }

  #problem(path: string, message: string): void {
    const told = this.problems.length >= MAX_TOLD || this.problems.some((problem) => problem.path === path)
    if (!told) this.problems.push({ path, message })
  }
}

const hostOf = (text: string) => URL.parse(text.replace(PLACEHOLDER, 'x'))?.host
