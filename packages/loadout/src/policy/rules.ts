/** Stores the rules of each scope as an ordered list. Rules from the app's code precede stored ones. */

import { z } from 'zod'
import type { Emitter } from '../events.ts'
import { APP_OWNER, newId } from '../schema/ids.ts'
import { type JsonObject, parse } from '../schema/json.ts'
import { type Scope, tierOf } from '../schema/scope.ts'
import {
  type DecisionType,
  type PolicyRule,
  type PolicyRuleInput,
  type PolicyRuleRow,
  policyRule,
  policyRules,
  type RuleConditions,
} from '../schema/toolkit/policy.ts'
import type { Access, ReadCache, Storage } from '../storage/storage.ts'
import { type CompiledRule, compileRules, type TieredRules } from './decide.ts'

/** The app, a user, or one of a user's threads. */
export type RuleScope = Omit<Scope, 'callId'>

export interface RuleCallScope {
  userId: string
  threadId?: string | undefined
  rules?: readonly PolicyRuleInput[] | undefined
}

export interface PolicyRules {
  /** Rules from the app's code: evaluated first and read-only. */
  fromCode(): readonly PolicyRule[]
  /** In evaluation order. */
  list(scope: RuleScope): Promise<PolicyRule[]>
  /** Replaces all rules of a scope. `actor` is the operator, for the log. */
  set(scope: RuleScope, rules: unknown, by?: { actor?: string | undefined }): Promise<PolicyRule[]>
  /** Compiled rules that apply to a call, including its own. */
  forCall(call: RuleCallScope): Promise<TieredRules>
}

export interface RuleDeps {
  storage: Storage
  cache: ReadCache
  events: Emitter
  /** Rules from the app's code. */
  codeRules?: readonly PolicyRule[]
}

const LIST_LIMIT = 100_000
/** Wraps the list, so that errors name the index of a rule. */
const policyInput = z.strictObject({ rules: policyRules })
const NONE: readonly CompiledRule[] = []

type ByThread = ReadonlyMap<string, { rules: PolicyRule[]; compiled: CompiledRule[] }>

export function createPolicyRules({ storage, cache, events, codeRules = [] }: RuleDeps): PolicyRules {
  const compiledCode = compileRules(codeRules)
  /** Returns the same array for the same rules, because it is a cache key. */
  const joined = new WeakMap<readonly CompiledRule[], readonly CompiledRule[]>()
  const withCode = (stored: readonly CompiledRule[]) => {
    if (compiledCode.length === 0) return stored
    const merged = joined.get(stored) ?? [...compiledCode, ...stored]
    joined.set(stored, merged)
    return merged
  }
  const read = (userId: string): Promise<ByThread> =>
    cache.read({ userId, name: 'rules' }, ['policyRules'], () =>
      storage.transaction(accessTo(userId), async (tx) => {
        const rows = await tx.list('policyRules', { where: { userId }, limit: LIST_LIMIT })
        return new Map(
          [...Map.groupBy(rows, (row) => row.threadId)].map(([thread, threadRows]) => [thread, ordered(threadRows)]),
        )
      }),
    )

  return {
    fromCode: () => codeRules,
    async list({ userId = APP_OWNER, threadId = '' }) {
      return (await read(userId)).get(threadId)?.rules ?? []
    },
    async set(scope, input, { actor } = {}) {
      const { rules } = parse(policyInput, { rules: input })
      const { userId = APP_OWNER, threadId = '' } = scope
      await storage.transaction(accessTo(userId), async (tx) => {
        for (const row of await tx.list('policyRules', { where: { userId, threadId }, limit: LIST_LIMIT }))
          await tx.delete('policyRules', row.ruleId)
        for (const [position, rule] of rules.entries()) {
          const ruleJson = rule as unknown as JsonObject
          const columns = { userId, threadId, tier: tierOf(scope), position }
          await tx.insert('policyRules', { ruleId: newId('rule'), ...columns, ruleJson, createdAt: new Date() })
        }
      })
      const summaries = rules.map(({ pattern, decision }) => ({ pattern, decision }))
      const where = { ...(threadId === '' ? {} : { threadId }), ...(actor === undefined ? {} : { actor }) }
      events.emit({ type: 'policy-changed', userId, rules: summaries, ...where })
      return rules
    },
    async forCall({ userId, threadId, rules }) {
      const ofCall = rules ? compileRules(parse(policyInput, { rules }).rules) : NONE
      const [app, own] = await Promise.all([read(APP_OWNER), read(userId)])
      const stored = app.get('')?.compiled ?? NONE
      return {
        app: withCode(stored),
        user: own.get('')?.compiled ?? NONE,
        thread: threadId === undefined ? NONE : (own.get(threadId)?.compiled ?? NONE),
        call: ofCall,
      }
    },
  }
}

function ordered(rows: readonly PolicyRuleRow[]) {
  const rules = rows.toSorted((a, b) => a.position - b.position).map((row) => policyRule.parse(row.ruleJson))
  return { rules, compiled: compileRules(rules) }
}

const accessTo = (userId: string): Access => (userId === APP_OWNER ? { caller: 'app-config', userId } : { userId })

/** Conditions and options of a rule. */
type RuleDetails = RuleConditions & Pick<PolicyRuleInput, 'reason' | 'allowEdits' | 'allowRemember'>

/** Creates a rule: `rule('github.create_*', 'ask')`, `rule('*', { readOnly: true }, 'allow')`. */
export function rule(pattern: string, decision: DecisionType): PolicyRule
export function rule(pattern: string, details: RuleDetails, decision: DecisionType): PolicyRule
export function rule(pattern: string, second: DecisionType | RuleDetails, third?: DecisionType): PolicyRule {
  const { reason, allowEdits, allowRemember, ...when } = typeof second === 'string' ? {} : second
  const decision = typeof second === 'string' ? second : third
  const extras = Object.entries({ reason, allowEdits, allowRemember }).filter(([, value]) => value !== undefined)
  return parse(policyRule, { pattern, when, decision, ...Object.fromEntries(extras) })
}
