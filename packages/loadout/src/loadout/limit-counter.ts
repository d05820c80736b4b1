import type { Tier } from '../schema/scope.ts'
import type { LoadoutEntry, Reason } from '../schema/toolkit/loadout-entry.ts'

/** A number that bounds a loadout, and who set it. */
export interface Limit {
  value: number
  tier: Tier
  /** The setting, as its owner knows it: `maxServersPerThread`. */
  name: string
}

/** Counts what is carried; from the first tool that is too much, nothing more is. */
export class Counter {
  readonly tools: LoadoutEntry[] = []
  tokens = 0
  readonly #maxTools: Limit | undefined
  readonly #maxTokens: Limit | undefined
  #full: Limit | undefined

  constructor(maxTools: Limit | undefined, maxTokens: Limit | undefined) {
    this.#maxTools = maxTools
    this.#maxTokens = maxTokens
  }

  add(entry: LoadoutEntry): LoadoutEntry {
    if (!entry.included) return entry
    if (this.#maxTools && this.tools.length >= this.#maxTools.value) this.#full ??= this.#maxTools
    if (this.#maxTokens && this.tokens + entry.tokens > this.#maxTokens.value) this.#full ??= this.#maxTokens
    if (this.#full) {
      const { name, value, tier } = this.#full
      const reason: Reason = {
        kind: 'limit',
        speaks: 'against',
        tier,
        detail: `${name} is ${value}, and other tools come first.`,
      }
      return { ...entry, included: false, reasons: [...entry.reasons, reason] }
    }
    this.tools.push(entry)
    this.tokens += entry.tokens
    return entry
  }
}
