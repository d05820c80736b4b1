/**
 * Daily token limits of users and threads. Tokens of models, as reported by the provider, and tokens of call results
 * share one counter.
 */
import { HostError } from '../../errors.ts'
import type { AppConfig } from '../../schema/app-config.ts'
import type { PreferenceStore } from '../../threads/preferences.ts'
import type { Threads } from '../../threads/threads.ts'
import { DAY_MS } from '../../util/durations.ts'
import type { BudgetKey, Budgets } from './budgets.ts'
import { least } from './usage.ts'

/** A limit and its counter. */
export interface UsageLimit {
  /** Name of the setting. */
  name: string
  value: number
  key: BudgetKey
}

export interface TokenScope {
  userId: string
  threadId?: string | undefined
}

export interface TokenLimitDeps {
  app: { get(): Promise<AppConfig> }
  preferences: Pick<PreferenceStore, 'get'>
  threads: Pick<Threads, 'settings'>
}

/** Token meter of a scope. */
export interface TokenMeter {
  /** Remaining tokens, `Infinity` without a limit, and the exhausted limit. */
  state(): Promise<{ left: number; reached?: HostError }>
  spend(tokens: number): void
}

export type TokenMeters = (scope: TokenScope) => TokenMeter

export const tokensBy = (userId: string, subject: string): BudgetKey => ({
  userId,
  subject,
  counter: 'tokens',
  windowMs: DAY_MS,
})

export async function tokenLimitsOf(
  { preferences, threads }: Pick<TokenLimitDeps, 'preferences' | 'threads'>,
  { userId, threadId }: TokenScope,
  { limits }: AppConfig,
): Promise<UsageLimit[]> {
  const { costLimits } = await preferences.get(userId)
  const own = threadId === undefined ? undefined : (await threads.settings(userId, threadId)).limits
  const limitFor = (value: number | undefined, subject: string): UsageLimit[] =>
    value === undefined ? [] : [{ name: 'maxTokensPerDay', value, key: tokensBy(userId, subject) }]
  return [
    ...limitFor(least(limits.maxTokensPerDay, costLimits.maxTokensPerDay), 'user'),
    ...limitFor(own?.maxTokensPerDay, `thread:${threadId}`),
  ]
}

export function limitReached({ name, value, key }: UsageLimit, resetsAt: Date): HostError {
  const [scope] = key.subject.split(':')
  return new HostError('limit-reached', {
    detail: `${name} is ${value} for this ${scope}; it resets at ${resetsAt.toISOString()}.`,
    retryAfterMs: Math.max(0, resetsAt.getTime() - Date.now()),
  })
}

export function createTokenMeters(deps: TokenLimitDeps & { budgets: Budgets }): TokenMeters {
  const { app, budgets } = deps
  return (scope) => {
    const { userId, threadId } = scope
    let isThreadLimited = false
    return {
      async state() {
        const limits = await tokenLimitsOf(deps, scope, await app.get())
        isThreadLimited = limits.some(({ key }) => key.subject !== 'user')
        let left = Number.POSITIVE_INFINITY
        for (const limit of limits) {
          const { value: used, resetsAt } = await budgets.used(limit.key)
          if (used >= limit.value) return { left: 0, reached: limitReached(limit, resetsAt) }
          left = Math.min(left, limit.value - used)
        }
        return { left }
      },
      spend(tokens) {
        const amount = Math.max(0, Math.ceil(tokens))
        if (amount === 0) return
        budgets.spend(tokensBy(userId, 'user'), amount)
        // Threads without a limit are not counted.
        if (isThreadLimited) budgets.spend(tokensBy(userId, `thread:${threadId}`), amount)
      },
    }
  }
}
