/** What a user, a thread and a run may use. The first limit that is reached ends the call, before anything leaves. */

import { HostError } from '../../errors.ts'
import type { BudgetKey, Budgets } from '../../policy/limits/budgets.ts'
import { type Limit, limitReached, tokenLimitsOf, tokensBy } from '../../policy/limits/token-limits.ts'
import { least } from '../../policy/limits/usage.ts'
import type { AppConfig } from '../../schema/app-config.ts'
import type { PreferenceStore } from '../../threads/preferences.ts'
import type { Threads } from '../../threads/threads.ts'
import { contentSize, utf8Size } from '../../util/byte-size.ts'
import { DAY_MS, HOUR_MS } from '../../util/durations.ts'
import type { CallOutcome, ResolvedCall, Stage } from '../call.ts'
import type { Concurrency } from '../limits/concurrency.ts'

export interface LimitDeps {
  app: { get(): Promise<AppConfig> }
  preferences: Pick<PreferenceStore, 'get'>
  threads: Pick<Threads, 'settings'>
  budgets: Budgets
  concurrency: Concurrency
}

/** A run may take its time: its counter is not reset while it can still be going on. */
const RUN_MS = 365 * DAY_MS
const BYTES_A_TOKEN = 4

export function withLimits(deps: LimitDeps): Stage {
  const { app, budgets, concurrency } = deps
  return (next) => async (call) => {
    const config = await app.get()
    const tooLarge = checkArguments(call, config.limits.argumentBytes)
    if (tooLarge) return tooLarge
    const limits = await limitsOf(deps, call, config)
    const acquiring = concurrency.acquire(call, config.limits)
    const slots = acquiring instanceof Promise ? await acquiring : acquiring
    if ('full' in slots) return limited(slots.full)
    try {
      const spent = await takeAll(budgets, limits)
      if (spent) return spent
      let tokens = 0
      try {
        const { callMs } = config.limits
        const outcome = await next(callMs === undefined ? call : { ...call, maxMs: callMs })
        tokens = tokensOf(call, outcome)
        return outcome
      } finally {
        // Also where it failed: then there was nothing to read.
        count(budgets, limits, { call, tokens })
      }
    } finally {
      slots.release()
    }
  }
}

/** One of each, or what there is none left of. */
async function takeAll(budgets: Budgets, limits: readonly Limit[]): Promise<CallOutcome | undefined> {
  const acquired: BudgetKey[] = []
  try {
    for (const limit of limits) {
      const taking = budgets.take(limit.key, limit.value)
      const taken = taking instanceof Promise ? await taking : taking
      if (!taken.ok) return limited(limitReached(limit, taken.resetsAt))
      acquired.push(limit.key)
    }
    acquired.length = 0
    return undefined
  } finally {
    for (const key of acquired) budgets.giveBack(key)
  }
}

/**
 * What it came to. What nobody limits is counted all the same, for people to see. A call was made once its intent was
 * recorded: from there on a server may have seen it. One that was not gives back what was taken for it.
 */
function count(
  budgets: Budgets,
  limits: readonly Limit[],
  { call, tokens }: { call: ResolvedCall; tokens: number },
): void {
  const { userId } = call
  const isMade = call.notes.reached === true
  let hasCalls = false
  let hasTokens = false
  for (const { key } of limits) {
    const ofUser = key.subject === 'user'
    if (key.counter === 'calls') {
      hasCalls ||= ofUser
      if (!isMade) budgets.giveBack(key)
    } else {
      hasTokens ||= ofUser
      // One was taken to see that there are any.
      budgets.spend(key, tokens - 1)
    }
  }
  if (!hasCalls && isMade) budgets.spend(callsOf(userId, 'user'), 1)
  if (!hasTokens) budgets.spend(tokensBy(userId, 'user'), tokens)
}

const callsOf = (userId: string, subject: string, windowMs = HOUR_MS): BudgetKey => ({
  userId,
  subject,
  counter: 'calls',
  windowMs,
})

/** All that hold for a call: of its user, its thread and its run. */
async function limitsOf(
  deps: Pick<LimitDeps, 'preferences' | 'threads'>,
  { userId, threadId, runId }: ResolvedCall,
  config: AppConfig,
): Promise<Limit[]> {
  const { preferences, threads } = deps
  const { limits } = config
  const { costLimits } = await preferences.get(userId)
  const threadLimits = threadId === undefined ? undefined : (await threads.settings(userId, threadId)).limits
  // What is counted later is counted where it was taken, also when the hour has ended since.
  const at = Date.now()
  const found: Limit[] = []
  const add = (name: string, value: number | undefined, key: () => BudgetKey) => {
    if (value !== undefined) found.push({ name, value, key: { ...key(), at } })
  }
  add('maxCallsPerHour', least(limits.maxCallsPerHour, costLimits.maxCallsPerHour), () => callsOf(userId, 'user'))
  add('maxCallsPerHour', threadLimits?.maxCallsPerHour, () => callsOf(userId, `thread:${threadId}`))
  if (runId !== undefined) add('maxCallsPerRun', limits.maxCallsPerRun, () => callsOf(userId, `run:${runId}`, RUN_MS))
  for (const { name, value, key } of await tokenLimitsOf(deps, { userId, threadId }, config))
    add(name, value, () => key)
  return found
}

function tokensOf({ notes }: ResolvedCall, outcome: CallOutcome): number {
  if ('error' in outcome) return 0
  notes.resultSize ??= contentSize(outcome.content, outcome.structuredContent)
  return Math.ceil(notes.resultSize / BYTES_A_TOKEN)
}

const limited = (error: HostError): CallOutcome => ({ status: 'limited', error })

function checkArguments(call: ResolvedCall, most: number): CallOutcome | undefined {
  const bytes = utf8Size(JSON.stringify(call.arguments))
  call.notes.argumentSize = bytes
  if (bytes <= most) return undefined
  const detail = `The arguments have ${bytes} bytes; argumentBytes is ${most}.`
  return limited(new HostError('limit-reached', { detail, action: 'Send less.' }))
}

/** What is said of arguments that are larger than the operator wants; undefined where they are not. */
export function tooLarge(call: ResolvedCall, most: number): CallOutcome | undefined {
  const bytes = utf8Size(JSON.stringify(call.arguments))
  call.notes.argumentSize = bytes
  if (bytes <= most) return undefined
  const detail = `The arguments have ${bytes} bytes; argumentBytes is ${most}.`
  return { status: 'limited', error: new HostError('limit-reached', { detail, action: 'Send less.' }) }
}
