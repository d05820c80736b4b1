/**
 * Enforces limits of the user, the thread and the run. The first exceeded limit ends the call before anything is sent.
 */

import { HostError } from '../../errors.ts'
import type { BudgetKey, Budgets } from '../../policy/limits/budgets.ts'
import { limitReached, tokenLimitsOf, tokensBy, type UsageLimit } from '../../policy/limits/token-limits.ts'
import { least } from '../../policy/limits/usage.ts'
import type { AppConfig } from '../../schema/app-config.ts'
import type { PreferenceStore } from '../../threads/preferences.ts'
import type { Threads } from '../../threads/threads.ts'
import { utf8Size } from '../../util/byte-size.ts'
import { DAY_MS, HOUR_MS } from '../../util/durations.ts'
import type { CallOutcome, ResolvedCall, Stage } from '../call.ts'
import type { Concurrency } from '../limits/concurrency.ts'
import { resultSize } from '../results/outline.ts'

export interface LimitDeps {
  app: { get(): Promise<AppConfig> }
  preferences: Pick<PreferenceStore, 'get'>
  threads: Pick<Threads, 'settings'>
  budgets: Budgets
  concurrency: Concurrency
}

/** Window of run counters: longer than any run, so that they are not reset. */
const RUN_MS = 365 * DAY_MS
const BYTES_A_TOKEN = 4

export function withLimits(deps: LimitDeps): Stage {
  const { app, budgets, concurrency } = deps
  return (next) => async (call) => {
    const config = await app.get()
    const tooLarge = argumentsTooLarge(call, config.limits.argumentBytes)
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
        // Also after a failure, which has no result to count.
        count(budgets, limits, { call, tokens })
      }
    } finally {
      slots.release()
    }
  }
}

/** Takes one from each budget, or returns the exhausted limit. */
async function takeAll(budgets: Budgets, limits: readonly UsageLimit[]): Promise<CallOutcome | undefined> {
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
 * Counts the call and its tokens, also without limits, for display. A call counts once its intent is recorded;
 * otherwise the taken amounts are returned.
 */
function count(
  budgets: Budgets,
  limits: readonly UsageLimit[],
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
      // One token was taken as a check.
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

/** All limits that apply to a call. */
async function limitsOf(
  deps: Pick<LimitDeps, 'preferences' | 'threads'>,
  { userId, threadId, runId }: ResolvedCall,
  config: AppConfig,
): Promise<UsageLimit[]> {
  const { preferences, threads } = deps
  const { limits } = config
  const { costLimits } = await preferences.get(userId)
  const threadLimits = threadId === undefined ? undefined : (await threads.settings(userId, threadId)).limits
  // Later counts go to the window in which the call started.
  const at = Date.now()
  const found: UsageLimit[] = []
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
  notes.resultSize ??= resultSize(outcome.content, outcome.structuredContent)
  return Math.ceil(notes.resultSize / BYTES_A_TOKEN)
}

const limited = (error: HostError): CallOutcome => ({ status: 'limited', error })

/** Outcome for arguments that exceed `argumentBytes`; undefined if they do not. */
export function argumentsTooLarge(call: ResolvedCall, most: number): CallOutcome | undefined {
  const bytes = utf8Size(JSON.stringify(call.arguments))
  call.notes.argumentSize = bytes
  if (bytes <= most) return undefined
  const detail = `The arguments have ${bytes} bytes; argumentBytes is ${most}.`
  return limited(new HostError('limit-reached', { detail, action: 'Send less.' }))
}
