/**
 * What fits into one request: what was selected stays before what waits, and what waits goes by its rank, which is its place.
 * Nothing is left out without a word.
 */
import type { LoadoutEntry } from '../schema/toolkit/loadout-entry.ts'
import { LIMITS, type LimitedProvider, limitWarnings } from './limits.ts'

export interface PlanInput {
  provider: LimitedProvider
  /** Entries that the form itself needs: a search tool. */
  reserved: number
  /** Sent with full definitions, in order. */
  shown: readonly LoadoutEntry[]
  /** What history refers to: sent, whatever else is not. */
  bound?: readonly LoadoutEntry[]
  /** Sent to be found, in order. */
  waiting?: readonly LoadoutEntry[]
  /** Whether what was selected and finds no room can still be found by a search. @default false, then it is left out */
  canPostpone?: boolean
}

export interface ToolPlan {
  shown: LoadoutEntry[]
  bound: LoadoutEntry[]
  waiting: LoadoutEntry[]
  postponed: LoadoutEntry[]
  warnings: string[]
}

export function planTools({ provider, reserved, canPostpone = false, ...given }: PlanInput): ToolPlan {
  const limits = LIMITS[provider]
  const isShort = ({ modelName }: LoadoutEntry) => modelName.length <= limits.name
  const all = [...given.shown, ...(given.bound ?? []), ...(given.waiting ?? [])]
  const bound = (given.bound ?? []).filter(isShort)
  let room = limits.tools - reserved - bound.length
  const take = (entries: readonly LoadoutEntry[]) => {
    const short = entries.filter(isShort)
    const taken = short.slice(0, Math.max(0, room))
    room -= taken.length
    return { taken, left: short.slice(taken.length) }
  }
  const shown = take(given.shown)
  const waiting = take(given.waiting ?? [])
  const postponed = canPostpone ? shown.left : []
  const names = (entries: readonly LoadoutEntry[]) => entries.map(({ modelName }) => modelName)
  const sent = [...shown.taken, ...bound, ...waiting.taken]
  return {
    shown: shown.taken,
    bound,
    waiting: waiting.taken,
    postponed,
    warnings: limitWarnings({
      provider,
      entries: reserved + sent.length,
      names: names(sent),
      postponed: names(postponed),
      dropped: names([...(canPostpone ? [] : shown.left), ...waiting.left]),
      tooLong: names(all.filter((entry) => !isShort(entry))),
    }),
  }
}
