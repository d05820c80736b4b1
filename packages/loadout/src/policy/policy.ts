/** Decides about calls: collects rules, trust and saved permissions. */

import { claimsOf } from '../loadout/transform/tighten.ts'
import type { AppConfig } from '../schema/app-config.ts'
import type { Caller } from '../schema/toolkit/tool.ts'
import { isTrusted } from '../toolkits/stored-toolkit.ts'
import { type Decided, type DecisionInput, decide } from './decide.ts'
import type { GrantedCall, Grants } from './grants.ts'
import type { PolicyRules, RuleCallScope } from './rules.ts'

export interface PolicyCall extends GrantedCall, RuleCallScope {
  caller: Caller
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
}

export function createPolicy({ rules, grants, app }: PolicyDeps): Policy {
  async function inputOf(call: PolicyCall): Promise<DecisionInput> {
    const { stored, found, caller } = call
    const [tiers, config] = await Promise.all([rules.forCall(call), app.get()])
    return {
      toolkit: stored.toolkit.id,
      tool: found.manifest.name,
      caller,
      annotations: claimsOf(stored.toolkit, found.manifest),
      trusted: isTrusted(stored, config),
      rules: tiers,
    }
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
