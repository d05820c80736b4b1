/**
 * Work budget of one evaluation. Loops, comparisons and created values pay by size, so that one step costs about the
 * same everywhere.
 */
import type { JsonObject } from '../../schema/json.ts'
import { ExpressionFault } from './expression-error.ts'

export interface EvaluationLimits {
  /** Operations, and items read or created. @default 100_000 */
  steps?: number | undefined
  /** Characters of all created texts. @default 4_000_000 */
  characters?: number | undefined
}

const STEPS = 100_000
const CHARACTERS = 4_000_000

export class ExpressionMeter {
  #steps: number
  #characters: number
  readonly #names = new WeakMap<JsonObject, readonly string[]>()

  constructor({ steps = STEPS, characters = CHARACTERS }: EvaluationLimits = {}) {
    this.#steps = steps
    this.#characters = characters
  }

  pay(steps: number): void {
    this.#steps -= steps
    if (this.#steps < 0) throw new ExpressionFault('takes too many steps; do it in a code node')
  }

  /** Charges for scanned characters. */
  scan(length: number): void {
    this.pay(length >> 6)
  }

  /** Keys of an object; charged and listed once per object. */
  namesOf(object: JsonObject): readonly string[] {
    const cached = this.#names.get(object)
    if (cached) return cached
    const names = Object.keys(object)
    this.pay(names.length)
    this.#names.set(object, names)
    return names
  }

  /** Charges for a created text. */
  text(length: number): void {
    this.#characters -= length
    if (this.#characters < 0) throw new ExpressionFault('makes too much text; do it in a code node')
    this.pay(1 + (length >> 10))
  }
}
