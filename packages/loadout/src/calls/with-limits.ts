/** What a user, a thread and a run may use. The first limit that is reached ends the call, before anything leaves. */
import { HostError } from '../errors.ts'
import type { PreferenceStore } from '../loadout/preferences.ts'
import type { Threads } from '../loadout/threads.ts'
import { type BudgetKey, type Budgets, DAY_MS, HOUR_MS } from '../policy/budgets.ts'
import { least } from '../policy/usage.ts'
import type { AppConfig } from '../schema/app-config.ts'
import type { CallOutcome, ResolvedCall } from './call.ts'
import type { Stage } from './compose.ts'
import type { Concurrency } from './concurrency.ts'
import { sizeOf } from './size-of.ts'

export interface LimitParts {
  app: { get(): Promise<AppConfig> }
  preferences: Pick<PreferenceStore, 'get'>
  threads: Pick<Threads, 'settings'>
  budgets: Budgets
  concurrency: Concurrency
}

/** A run may take its time: its counter is not reset while it can still be going on. */
const RUN_MS = 365 * DAY_MS
const CHARACTERS_A_TOKEN = 4

interface Limit {
  /** As people know it. */
  name: string
  value: number
  of: string
  key: BudgetKey
}

export function withLimits({ app, preferences, threads, budgets, concurrency }: LimitParts): Stage {
  const limitsOf = createLimits({ preferences, threads })
  /** What nobody limits is counted all the same, for people to see. */
  const countUnlimited = (
    userId: string,
    { calls, tokens, used }: { calls: Limit[]; tokens: Limit[]; used: number },
  ) => {
    if (!calls.some(ofUser)) budgets.spend({ userId, subject: 'user', counter: 'calls', windowMs: HOUR_MS }, 1)
    if (!tokens.some(ofUser)) budgets.spend({ userId, subject: 'user', counter: 'tokens', windowMs: DAY_MS }, used)
  }

  return (next) => async (call) => {
    const config = await app.get()
    const tooLarge = checkArguments(call, config.limits.argumentBytes)
    if (tooLarge) return tooLarge
    const { calls, tokens } = await limitsOf(call, config)
    const entered = concurrency.enter(call, config.limits)
    const places = entered instanceof Promise ? await entered : entered
    if ('full' in places) return limited(places.full)
    const taken: Limit[] = []
    try {
      for (const one of [...calls, ...tokens]) {
        const got = await budgets.take(one.key, one.value)
        if (!got.ok) {
          for (const { key } of taken) budgets.giveBack(key)
          return reached(one, got.resetsAt)
        }
        taken.push(one)
      }
      const { callMs } = config.limits
      const outcome = await next(callMs === undefined ? call : { ...call, maxMs: callMs })
      // One was taken to see that there are any; the rest is what it came to.
      const used = tokensOf(outcome)
      for (const { key } of tokens) budgets.spend(key, used - 1)
      countUnlimited(call.userId, { calls, tokens, used })
      return outcome
    } finally {
      places.leave()
    }
  }
}

/** All that hold for a call: of its user, its thread and its run. */
function createLimits({ preferences, threads }: Pick<LimitParts, 'preferences' | 'threads'>) {
  return async (call: ResolvedCall, { limits }: AppConfig): Promise<{ calls: Limit[]; tokens: Limit[] }> => {
    const { userId, threadId, runId } = call
    const [{ costLimits }, settings] = await Promise.all([
      preferences.get(userId),
      threadId === undefined ? undefined : threads.settings(userId, threadId),
    ])
    const own = settings?.limits ?? {}
    const thread = `thread:${threadId}`
    return {
      calls: [
        limit('maxCallsPerHour', least(limits.maxCallsPerHour, costLimits.maxCallsPerHour), {
          userId,
          subject: 'user',
          counter: 'calls',
          windowMs: HOUR_MS,
        }),
        limit('maxCallsPerHour', own.maxCallsPerHour, { userId, subject: thread, counter: 'calls', windowMs: HOUR_MS }),
        limit('maxCallsPerRun', runId === undefined ? undefined : limits.maxCallsPerRun, {
          userId,
          subject: `run:${runId}`,
          counter: 'calls',
          windowMs: RUN_MS,
        }),
      ].filter((one) => one !== undefined),
      tokens: [
        limit('maxTokensPerDay', least(limits.maxTokensPerDay, costLimits.maxTokensPerDay), {
          userId,
          subject: 'user',
          counter: 'tokens',
          windowMs: DAY_MS,
        }),
        limit('maxTokensPerDay', own.maxTokensPerDay, { userId, subject: thread, counter: 'tokens', windowMs: DAY_MS }),
      ].filter((one) => one !== undefined),
    }
  }
}

const ofUser = ({ key }: Limit) => key.subject === 'user'

const limit = (name: string, value: number | undefined, key: BudgetKey): Limit | undefined =>
  value === undefined ? undefined : { name, value, of: key.subject.split(':')[0] as string, key }

const tokensOf = (outcome: CallOutcome) =>
  'error' in outcome ? 0 : Math.ceil(sizeOf(outcome.content, outcome.structuredContent) / CHARACTERS_A_TOKEN)

const limited = (error: HostError): CallOutcome => ({ status: 'limited', error })

function reached({ name, value, of }: Limit, resetsAt: Date): CallOutcome {
  return limited(
    new HostError('limit-reached', {
      detail: `${name} is ${value} for this ${of}; it resets at ${resetsAt.toISOString()}.`,
      retryAfterMs: Math.max(0, resetsAt.getTime() - Date.now()),
    }),
  )
}

function checkArguments(call: ResolvedCall, most: number): CallOutcome | undefined {
  const bytes = JSON.stringify(call.arguments).length
  if (bytes <= most) return undefined
  const detail = `The arguments have ${bytes} bytes; argumentBytes is ${most}.`
  return limited(new HostError('limit-reached', { detail, action: 'Send less.' }))
}
