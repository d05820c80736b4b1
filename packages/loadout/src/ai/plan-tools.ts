/**
 * Fits tools into one request: selected tools come before deferred ones, which are ordered by rank. Every dropped tool
 * is reported.
 */
import type { LoadoutEntry } from '../schema/toolkit/loadout-entry.ts'
import { LIMITS, type LimitedProvider, limitWarnings } from './limits.ts'

export interface PlanInput {
  provider: LimitedProvider
  /** Entries that the form itself needs, such as a search tool. */
  reserved: number
  /** Sent with full definitions, in order. */
  immediate: readonly LoadoutEntry[]
  /** Tools that the history references; always sent. */
  bound?: readonly LoadoutEntry[]
  /** Sent deferred, in order. */
  waiting?: readonly LoadoutEntry[]
  /** Whether selected tools without room can be found by search. @default false: they are dropped */
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
