/** Decides about calls: collects rules, trust and saved permissions. */

import { claimsOf } from '../loadout/transform/tighten.ts'
import type { AppConfig } from '../schema/app-config.ts'
import type { JsonObject } from '../schema/json.ts'
import type { Caller } from '../schema/toolkit/tool.ts'
import { isTrusted } from '../toolkits/stored-toolkit.ts'
import { byApp, type Decided, type DecisionInput, decide } from './decide.ts'
import type { GrantedCall, Grants } from './grants.ts'
import { askPolicyFunction, type PolicyFunctionOptions } from './policy-function.ts'
import type { PolicyRules, RuleCallScope } from './rules.ts'

export interface PolicyCall extends GrantedCall, RuleCallScope {
  caller: Caller
  /** Without them, the app's policy function is not asked. */
  arguments?: JsonObject | undefined
}

export interface Policy {
  decide(call: PolicyCall): Promise<Decided>
  /** The decision, and the decision without rules and permissions of the user. */
  preview(call: PolicyCall): Promise<{ decided: Decided; inherited: Decided }>
}

export interface PolicyDeps {
  rules: Pick<PolicyRules, 'forCall'>
  grants: Pick<Grants, 'remembered'>
  app: { get(): Promise<AppConfig> }
  /** The app's own decision in code. */
  policyFunction?: PolicyFunctionOptions | undefined
}

export function createPolicy({ rules, grants, app, policyFunction }: PolicyDeps): Policy {
  async function inputOf(call: PolicyCall): Promise<DecisionInput> {
    const { stored, found, caller, userId, threadId } = call
    const [tiers, config] = await Promise.all([rules.forCall(call), app.get()])
    const input: DecisionInput = {
      toolkit: stored.toolkit.id,
      tool: found.manifest.name,
      caller,
      annotations: claimsOf(stored.toolkit, found.manifest),
      trusted: isTrusted(stored, config),
      rules: tiers,
    }
    if (!policyFunction || call.arguments === undefined) return input
    const { toolkit, tool, annotations, trusted } = input
    const answered = await askPolicyFunction(policyFunction, {
      userId,
      threadId,
      toolkit,
      tool,
      ref: `${toolkit}.${tool}`,
      arguments: call.arguments,
      caller,
      annotations: trusted ? annotations : undefined,
      decision: byApp(input).decision,
    })
    if (!answered) return input
    return { ...input, answered: { ...answered, tier: 'app', mayLoosen: policyFunction.mayLoosen === true } }
  }

  async function withMemory(call: PolicyCall, input: DecisionInput): Promise<Decided> {
    const plain = decide(input)
    // A saved answer can only change `ask` to `allow`, or a permitted call to `deny`.
    if (plain.decision === 'deny') return plain
    const remembered = await grants.remembered(call)
    return remembered === undefined ? plain : decide({ ...input, remembered })
  }

  return {
    decide: async (call) => withMemory(call, await inputOf(call)),
    async preview(call) {
      const input = await inputOf(call)
      const { app: appRules = [] } = input.rules
      return { decided: await withMemory(call, input), inherited: decide({ ...input, rules: { app: appRules } }) }
    },
  }
}
