/**
 * What one evaluation may cost. Whoever loops, compares or builds pays by the size of what it works on, so that a step is worth
 * about the same everywhere; with nothing left it ends.
 */
import type { JsonObject } from '../../schema/json.ts'
import { ExpressionFault } from './expression-error.ts'

export interface EvaluationLimits {
  /** Operations, items looked at and items made. @default 100_000 */
  steps?: number | undefined
  /** Characters of all texts that are made. @default 4_000_000 */
  characters?: number | undefined
}

const STEPS = 100_000
const CHARACTERS = 4_000_000

export class Meter {
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

  /** Characters that are looked at. */
  scan(length: number): void {
    this.pay(length >> 6)
  }

  /** The names of an object. To list them takes long where there are many: it is done once, and paid for. */
  namesOf(object: JsonObject): readonly string[] {
    const cached = this.#names.get(object)
    if (cached) return cached
    const names = Object.keys(object)
    this.pay(names.length)
    this.#names.set(object, names)
    return names
  }

  /** A text that was made, or is about to be. */
  text(length: number): void {
    this.#characters -= length
    if (this.#characters < 0) throw new ExpressionFault('makes too much text; do it in a code node')
    this.pay(1 + (length >> 10))
  }
}
