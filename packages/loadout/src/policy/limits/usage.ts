/** Reports how much of their limits a user has used. */
import type { AppConfig } from '../../schema/app-config.ts'
import type { Preferences } from '../../schema/records/preferences.ts'
import { DAY_MS, HOUR_MS } from '../../util/durations.ts'
import type { Budgets } from './budgets.ts'

export interface LimitUsage {
  used: number
  limit?: number
  resetsAt: string
}

export interface Usage {
  callsThisHour: LimitUsage
  tokensToday: LimitUsage
}

export interface UsageDeps {
  budgets: Pick<Budgets, 'used'>
  app: { get(): Promise<AppConfig> }
  preferences: { get(userId: string): Promise<Preferences> }
}

export async function usageOf({ budgets, app, preferences }: UsageDeps, userId: string): Promise<Usage> {
  const [{ limits }, { costLimits }] = await Promise.all([app.get(), preferences.get(userId)])
  const counter = async (
    name: 'calls' | 'tokens',
    windowMs: number,
    limit: number | undefined,
  ): Promise<LimitUsage> => {
    const { value, resetsAt } = await budgets.used({ userId, subject: 'user', counter: name, windowMs })
    return { used: value, resetsAt: resetsAt.toISOString(), ...(limit === undefined ? {} : { limit }) }
  }
  return {
    callsThisHour: await counter('calls', HOUR_MS, least(limits.maxCallsPerHour, costLimits.maxCallsPerHour)),
    tokensToday: await counter('tokens', DAY_MS, least(limits.maxTokensPerDay, costLimits.maxTokensPerDay)),
  }
}

/** The lower of the operator's limit and the user's own. */
export function least(ceiling: number | undefined, own: number | undefined): number | undefined {
  if (ceiling === undefined || own === undefined) return ceiling ?? own
  return Math.min(ceiling, own)
}
