/**
 * Activation verdicts of one tier. Within a tier the most precise rule wins: tool name, tool glob, toolkit name,
 * toolkit glob. At equal precision, off wins. `overlay.ts` combines the tiers.
 */

import type { Glob } from '../schema/glob.ts'
import { compileRef } from '../schema/glob.ts'
import type { Tier } from '../schema/scope.ts'
import { EXCLUSIVE } from '../schema/toolkit/activation.ts'
import type { Reason } from '../schema/toolkit/loadout-entry.ts'

export interface ActivationRule {
  /** `github`, `github.delete_repo`, `github.create_*`, `*`. */
  ref: string
  on: boolean
}

/** The activations of one tier. */
export interface Layer {
  tier: Tier
  rules: readonly ActivationRule[]
}

export interface LayerVerdict {
  tier: Tier
  on: boolean
  /** Ref of the deciding rule. */
  ref: string
  /** Explanation for users. */
  reason: Reason
  /** Whether it is off only because an exclusive list omits it. */
  unlisted: boolean
}

/** Verdicts of a tier about a toolkit and its tools. */
export interface ToolkitVerdicts {
  whole: LayerVerdict | undefined
  /** Undefined if no rule of this tier names tools of the toolkit. */
  ofTool: ((tool: string) => LayerVerdict | undefined) | undefined
  /** Whether a rule turns on some of its tools by name. */
  someOn: boolean
}

interface CompiledRule {
  verdict: LayerVerdict
  /** Toolkit and tool part of the ref, as written. */
  kit: string
  name: string
  toolkit: Glob
  tool: Glob | undefined
}

/** Rules of an exclusive list. */
export const exclusively = (refs: readonly string[]): ActivationRule[] => [
  { ref: EXCLUSIVE, on: false },
  ...refs.map((ref) => ({ ref, on: true })),
]

export function compileLayer({ tier, rules }: Layer): (toolkit: string) => ToolkitVerdicts {
  if (rules.length === 0) return () => SILENT
  const compiled = rules.map((rule) => compileRule(rule, tier))
  // Index rules by name; only globs need to be tested one by one.
  const named = Map.groupBy(
    compiled.filter((rule) => rule.toolkit.literal),
    (rule) => rule.kit,
  )
  const globs = compiled.filter((rule) => !rule.toolkit.literal)
  return (toolkit) => {
    const about = [...(named.get(toolkit) ?? []), ...globs.filter((rule) => rule.toolkit.matches(toolkit))]
    const whole = mostPrecise(about.filter((rule) => rule.tool === undefined))
    const tools = about.filter((rule) => rule.tool !== undefined)
    if (tools.length === 0) return { whole, ofTool: undefined, someOn: false }
    const byName = Map.groupBy(
      tools.filter((rule) => rule.tool?.literal),
      (rule) => rule.name,
    )
    const others = tools.filter((rule) => !rule.tool?.literal)
    // A tool name is more precise than any tool glob.
    const ofTool = (tool: string) => mostPrecise(byName.get(tool) ?? []) ?? mostPrecise(others, tool) ?? whole
    return { whole, ofTool, someOn: tools.some((rule) => rule.verdict.on) }
  }
}

const SILENT: ToolkitVerdicts = { whole: undefined, ofTool: undefined, someOn: false }

function compileRule({ ref, on }: ActivationRule, tier: Tier): CompiledRule {
  const unlisted = ref === EXCLUSIVE
  const pattern = compileRef(unlisted ? '*' : ref)
  const [kit = ''] = ref.split('.', 1)
  return {
    verdict: { tier, on, ref, unlisted, reason: reasonOf({ tier, on, ref, unlisted }) },
    kit,
    name: ref.slice(kit.length + 1),
    toolkit: pattern.toolkit,
    tool: pattern.tool,
  }
}

/** The most precise rule that matches the tool, if one is given. */
function mostPrecise(rules: readonly CompiledRule[], tool?: string): LayerVerdict | undefined {
  let best: CompiledRule | undefined
  for (const rule of rules) {
    const more = best === undefined ? 1 : precision(rule) - precision(best)
    const wins = more > 0 || (more === 0 && !rule.verdict.on)
    if (wins && (tool === undefined || rule.tool?.matches(tool))) best = rule
  }
  return best?.verdict
}

function precision({ verdict, toolkit, tool }: CompiledRule): number {
  if (verdict.unlisted) return -1
  if (tool === undefined) return toolkit.literal ? 2 : 1
  if (!tool.literal) return toolkit.literal ? 4 : 3
  return toolkit.literal ? 6 : 5
}

function reasonOf({ tier, on, ref, unlisted }: Omit<LayerVerdict, 'reason'>): Reason {
  if (unlisted) return { kind: 'activation', speaks: 'against', tier, detail: `It is not in the list of the ${tier}.` }
  const detail = `Switched ${on ? 'on' : 'off'} at the ${tier} tier by "${ref}".`
  return { kind: 'activation', speaks: on ? 'for' : 'against', tier, detail }
}
