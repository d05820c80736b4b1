/** What one evaluation may cost. Whoever loops, compares or builds pays first; with nothing left it ends. */
import { ExpressionFault } from './expression-fault.ts'

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

  constructor({ steps = STEPS, characters = CHARACTERS }: EvaluationLimits = {}) {
    this.#steps = steps
    this.#characters = characters
  }

  pay(steps: number): void {
    this.#steps -= steps
    if (this.#steps < 0) throw new ExpressionFault('takes too many steps; do it in a code node')
  }

  /** A text that was made, or is about to be. */
  text(length: number): void {
    this.#characters -= length
    if (this.#characters < 0) throw new ExpressionFault('makes too much text; do it in a code node')
    this.pay(1 + (length >> 10))
  }
}
