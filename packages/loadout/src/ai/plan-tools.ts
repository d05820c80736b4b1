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
  immediate: readonly LoadoutEntry[]
  /** What history refers to: sent, whatever else is not. */
  bound?: readonly LoadoutEntry[]
  /** Sent to be found, in order. */
  waiting?: readonly LoadoutEntry[]
  /** Whether what was selected and finds no room can still be found by a search. @default false, then it is left out */
  canPostpone?: boolean
}

export interface ToolPlan {
  immediate: LoadoutEntry[]
  bound: LoadoutEntry[]
  waiting: LoadoutEntry[]
  postponed: LoadoutEntry[]
  warnings: string[]
}

export function planTools({ provider, reserved, canPostpone = false, ...groups }: PlanInput): ToolPlan {
  const limits = LIMITS[provider]
  const isShort = ({ modelName }: LoadoutEntry) => modelName.length <= limits.name
  const entries = [...groups.immediate, ...(groups.bound ?? []), ...(groups.waiting ?? [])]
  const bound = (groups.bound ?? []).filter(isShort)
  let room = limits.tools - reserved - bound.length
  const accept = (entries: readonly LoadoutEntry[]) => {
    const short = entries.filter(isShort)
    const accepted = short.slice(0, Math.max(0, room))
    room -= accepted.length
    return { accepted, overflow: short.slice(accepted.length) }
  }
  const immediate = accept(groups.immediate)
  const waiting = accept(groups.waiting ?? [])
  const postponed = canPostpone ? immediate.overflow : []
  const names = (entries: readonly LoadoutEntry[]) => entries.map(({ modelName }) => modelName)
  const sent = [...immediate.accepted, ...bound, ...waiting.accepted]
  return {
    immediate: immediate.accepted,
    bound,
    waiting: waiting.accepted,
    postponed,
    warnings: limitWarnings({
      provider,
      entries: reserved + sent.length,
      names: names(sent),
      postponed: names(postponed),
      dropped: names([...(canPostpone ? [] : immediate.overflow), ...waiting.overflow]),
      tooLong: names(entries.filter((entry) => !isShort(entry))),
    }),
  }
}
