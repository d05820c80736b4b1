import type { LoadoutEntry } from '../schema/toolkit/loadout-entry.ts'
import { SEARCH_NAME } from './model-call.ts'

const MAX_NAMED = 30

/** Tells a model that more tools exist. Without this hint, it answers that it cannot do the task. */
export function instructionsFor(waiting: readonly LoadoutEntry[]): { instructions?: string } {
  if (waiting.length === 0) return {}
  const toolkits = [...new Set(waiting.map(({ toolkit }) => toolkit))]
  const toolkitNames = `${toolkits.slice(0, MAX_NAMED).join(', ')}${toolkits.length > MAX_NAMED ? ', …' : ''}`
  return {
    instructions: `There are ${waiting.length} more tools than you are shown, of: ${toolkitNames}. Find them with ${SEARCH_NAME} before you say that something cannot be done; what it finds you can call in your next step.`,
  }
}
