/**
 * Replaces variables with their values. A value is not expanded again. The value of a secret input in an argument or a
 * URL becomes a placeholder, because there it may not look like a secret.
 */
import type { FieldError } from '../../errors.ts'
import type { JsonObject } from '../../schema/json.ts'
import { PLACEHOLDER } from '../secrets/url-secrets.ts'
import { type DetectedInput, inputName, mapTexts, type TextLocation } from './inputs.ts'
import { readVariables, type TemplatePart, type Variable } from './variables.ts'

export interface Expanded {
  record: JsonObject
  /** Values behind the placeholders of the record, by field. */
  secrets: Record<string, string>
  /** Inputs without a value, with the paths that need it. */
  missing: Map<string, Set<string>>
  warnings: string[]
  problems: FieldError[]
}

export interface ExpandInput {
  entry: string
  values: Readonly<Record<string, string>>
  inputs: ReadonlyMap<string, DetectedInput>
}

/** Environment and header values are always secrets, so only these fields need placeholders. */
const MASKED_FIELDS = new Set(['args', 'url'])

/** A short text can repeat a long value many times, so the size of an entry is capped. */
const MAX_CHARACTERS = 256 * 1024
const MAX_REPORTED = 50

export function expandRecord(record: JsonObject, input: ExpandInput): Expanded {
  const expander = new Expander(input)
  const { secrets, missing, warnings, problems } = expander
  return {
    record: mapTexts(record, (text, location) => expander.text(text, location)),
    secrets,
    missing,
    warnings,
    problems,
  }
}

class Expander {
  readonly secrets: Record<string, string> = {}
  readonly missing = new Map<string, Set<string>>()
  readonly warnings: string[] = []
  readonly problems: FieldError[] = []
  readonly #input: ExpandInput
  readonly #placeholders = new Map<string, string>()
  #length = 0

  constructor(input: ExpandInput) {
    this.#input = input
  }

  text(text: string, location: TextLocation): string {
    if (this.#length > MAX_CHARACTERS) return text
    const { parts, unclosed } = readVariables(text)
    if (unclosed && this.warnings.length < MAX_REPORTED)
      this.warnings.push(`"${location.path}" holds a "\${" that is not closed; it stays as it is`)
    const plain = this.#join(parts, location, false)
    if (!MASKED_FIELDS.has(location.field)) return plain
    const hidden = this.#join(parts, location, true)
    // A secret in the host of a URL cannot become a placeholder: the host must be known before it is filled.
    return location.field === 'url' && hostOf(hidden) !== hostOf(plain) ? plain : hidden
  }

  #join(parts: readonly TemplatePart[], location: TextLocation, hide: boolean): string {
    let text = ''
    for (const part of parts) {
      const piece = typeof part === 'string' ? part : this.#value(part, location, hide)
      this.#length += piece.length
      if (this.#length > MAX_CHARACTERS) return this.#tooLong(location)
      text += piece
    }
    return text
  }

  #value(variable: Variable, location: TextLocation, hide: boolean): string {
    const name = inputName(variable, this.#input.entry)
    if (name === undefined) return this.#unreadable(variable, location)
    const input = this.#input.inputs.get(name)
    const hidden = hide && input?.secret === true
    const value = this.#inputValue(name) ?? this.#fallback(variable, location, hide && !hidden) ?? input?.fallback
    if (value === undefined) return this.#addMissing(name, variable.raw, location)
    return hidden && value !== '' ? this.#hide(location.field, value) : value
  }

  #inputValue(name: string): string | undefined {
    return Object.hasOwn(this.#input.values, name) ? this.#input.values[name] : undefined
  }

  #fallback({ fallback }: Variable, location: TextLocation, hide: boolean): string | undefined {
    return fallback && this.#join(fallback, location, hide)
  }

  #hide(field: string, value: string): string {
    const cacheKey = JSON.stringify([field, value])
    const key = this.#placeholders.get(cacheKey) ?? `${field}.input${this.#placeholders.size}`
    this.#placeholders.set(cacheKey, key)
    this.secrets[key] = value
    return `\${secret:${key}}`
  }

  #addMissing(name: string, raw: string, { path }: TextLocation): string {
    this.missing.set(name, (this.missing.get(name) ?? new Set()).add(path))
    return raw
  }

  #unreadable({ raw }: Variable, { path }: TextLocation): string {
    this.#problem(path, `"${raw.slice(0, 60)}" names nothing that could be given a value`)
    return raw
  }

  #tooLong({ path }: TextLocation): string {
    this.#problem(path, 'makes the entry too long with its values')
    return ''
  }

  #problem(path: string, message: string): void {
    const isReported = this.problems.length >= MAX_REPORTED || this.problems.some((problem) => problem.path === path)
    if (!isReported) this.problems.push({ path, message })
  }
}

const hostOf = (text: string) => URL.parse(text.replace(PLACEHOLDER, 'x'))?.host
