/** Applies tool and token limits to a loadout. */
import type { Tier } from '../schema/scope.ts'
import type { LoadoutEntry, Reason } from '../schema/toolkit/loadout-entry.ts'

/** A limit of a loadout and the tier that set it. */
export interface ToolkitLimit {
  value: number
  tier: Tier
  /** Name of the setting: `maxServersPerThread`. */
  name: string
}

/** Counts included tools. After the first one over a limit, no further tool is included. */
export class LimitCounter {
  readonly tools: LoadoutEntry[] = []
  tokens = 0
  readonly #maxTools: ToolkitLimit | undefined
  readonly #maxTokens: ToolkitLimit | undefined
  #full: ToolkitLimit | undefined

  constructor(maxTools: ToolkitLimit | undefined, maxTokens: ToolkitLimit | undefined) {
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
