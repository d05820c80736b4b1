/**
 * Preflight check, before a run and on demand: reports everything that would stop a run, at once. It calls no tool,
 * starts no server and uses cached state only. Servers that were never discovered are listed in `unseen`; a run
 * discovers them first and checks again.
 */

import type { HostError } from '../../errors.ts'
import { MAX_TOOLKITS, tooMany } from '../../loadout/setup/setup-toolkits.ts'
import { compileGlob } from '../../schema/glob.ts'
import type { AgentCeiling } from '../agent.ts'
import { programProblems } from '../definition/check-programs.ts'
import type { Plan } from '../definition/plan.ts'
import { checkTool } from './check-tool.ts'
import {
  type Checked,
  createPreflightContext,
  type PreflightDeps,
  type PreflightScope,
  type PreflightState,
  type Problem,
} from './context.ts'
import { type Need, needsOf, toolkitsOf } from './required-tools.ts'

export type { PreflightDeps, PreflightScope, Problem }

export interface Preflight {
  ok: boolean
  problems: Problem[]
  /** Findings that do not stop the run. */
  warnings: string[]
  /** Toolkits whose server must be discovered before they can be checked. */
  unseen: string[]
}

/** Max pending approvals per user. */
const MAX_OPEN = 100

export async function preflight(deps: PreflightDeps, plan: Plan, scope: PreflightScope): Promise<Preflight> {
  const needs = needsOf(plan)
  // Before a run, missing toolkits may still be provided inline; in a run they are errors.
  const awaited = scope.failed === undefined ? [...plan.definition.brings, ...(scope.expectedInline?.keys() ?? [])] : []
  const state = { ...(await loadState(deps, scope, needs)), awaited }
  const problems: Problem[] = [
    ...unsupportedNodes(deps, plan),
    ...(await invalidPrograms(deps, plan)),
    ...(await modelProblems(deps, plan, scope)),
  ]
  const ceiling = (await deps.agentCeiling?.()) ?? {}
  const warnings = new Set([...toolkitLimitWarnings(scope, needs, state.available), ...overCeiling(plan, ceiling)])
  const unseen = new Set<string>()
  let mayAsk = false
  for (const need of needs) {
    const found = need.tool === undefined ? checkPattern(need, state) : await checkTool(deps, need, state)
    problems.push(...found.problems)
    for (const warning of found.warnings) warnings.add(warning)
    if (found.isUnseen) unseen.add(need.toolkit)
    mayAsk ||= found.asks === true
  }
  problems.push(...(await limitProblems(deps, scope, { needs, plan, mayAsk })))
  return { ok: problems.length === 0, problems: distinct(problems), warnings: [...warnings], unseen: [...unseen] }
}

async function loadState(deps: PreflightDeps, scope: PreflightScope, needs: readonly Need[]) {
  const context = await createPreflightContext(deps, scope, needs)
  const inline = scope.loadout.toolkits.filter(({ tier }) => tier === 'call').map(({ id }) => id)
  return { ...scope, ...context, available: [...new Set([...inline, ...context.stored.keys()])] }
}

/** One run serves at most MAX_TOOLKITS toolkits; those that nodes name come first. */
function toolkitLimitWarnings(
  { expectedInline }: PreflightScope,
  needs: readonly Need[],
  available: readonly string[],
): string[] {
  if (!expectedInline) return []
  const requested = new Set([...toolkitsOf(needs, [...expectedInline.keys(), ...available]), ...expectedInline.keys()])
  const dropped = [...requested].slice(MAX_TOOLKITS)
  return dropped.length === 0 ? [] : [tooMany(dropped)]
}

/** A toolkit or glob must match something; failed matches are only warnings. */
function checkPattern({ ref, toolkit, path, planned }: Need, state: PreflightState): Checked {
  const { loadout, available, awaited, failed = [] } = state
  const { matches } = compileGlob(toolkit)
  const failedMatches = failed.filter(({ id }) => matches(id))
  const warnings = failedMatches.map(({ id, reason }) => `The toolkit '${id}' does not serve: ${reason}`)
  if (available.some(matches) || failedMatches.length > 0) {
    const isAvailable = failedMatches.length > 0 || loadout.tools.some((entry) => matches(entry.toolkit))
    return { problems: [], warnings: isAvailable ? warnings : [...warnings, `Nothing of '${ref}' is carried.`] }
  }
  if (awaited.some(matches)) return { problems: [], warnings, isUnseen: true }
  const message = `Requested '${ref}', and there is no such toolkit. Available: ${available.join(', ') || 'nothing'}.`
  const about = { path, node: planned.node.id, ref, code: 'not-found' as const }
  return { warnings, problems: [{ ...about, message, action: 'Add the toolkit, or remove it from the node.' }] }
}

/** Nodes that need an executor or an agent that this host does not have. */
function unsupportedNodes({ can }: PreflightDeps, { nodes }: Plan): Problem[] {
  return [...nodes.values()].flatMap(({ node, index }): Problem[] => {
    const about = { path: `nodes.${index}.type`, node: node.id, code: 'function-missing' as const }
    if (node.type === 'code' && !can.programs)
      return [
        {
          ...about,
          message: `Node '${node.id}' is a program, and this host runs none.`,
          action: 'Give the host an executor: createHost({ executor: quickjs() }).',
        },
      ]
    if (node.type === 'agent' && !can.agents)
      return [
        {
          ...about,
          message: `Node '${node.id}' is an agent, and this host has none.`,
          action: 'Configure a model (LOADOUT_MODEL), or give the host an agent.',
        },
      ]
    return []
  })
}

/** A definition that was never saved has unchecked programs. */
async function invalidPrograms({ can }: PreflightDeps, plan: Plan): Promise<Problem[]> {
  const found = can.programs ? await programProblems(plan) : []
  return found.map((problem) => ({ ...problem, code: 'invalid-input' as const, action: 'Correct the program.' }))
}

/** Models that cannot be used; each is checked once. */
async function modelProblems(
  { modelProblem }: PreflightDeps,
  { nodes }: Plan,
  { userId }: PreflightScope,
): Promise<Problem[]> {
  const problems: Problem[] = []
  const problemByModel = new Map<string | undefined, HostError | undefined>()
  for (const { node, index } of nodes.values()) {
    if (node.type !== 'agent' || !modelProblem) continue
    const { model, id } = node
    if (!problemByModel.has(model)) problemByModel.set(model, await modelProblem(userId, model))
    const found = problemByModel.get(model)
    if (!found) continue
    const { code, message, action } = found
    problems.push({ path: `nodes.${index}.model`, node: id, code, message: `Node '${id}': ${message}`, action })
  }
  return problems
}

interface Spending {
  needs: readonly Need[]
  plan: Plan
  mayAsk: boolean
}

/** Limits that are used up, or that the static calls alone would exceed. */
async function limitProblems(
  deps: PreflightDeps,
  { userId, threadId }: PreflightScope,
  { needs, plan, mayAsk }: Spending,
): Promise<Problem[]> {
  const problems: Problem[] = []
  const usage = await deps.usage(userId, threadId)
  const least = needs.filter(
    ({ planned }) => planned.node.type === 'tool' && planned.parentId === undefined && planned.chosenBy.length === 0,
  ).length
  const report = (message: string, resetsAt: string) =>
    problems.push({
      path: '',
      code: 'limit-reached',
      message,
      action: `Wait until ${resetsAt}, or ask for a higher limit.`,
    })
  const makes = needs.length === 0 ? 0 : Math.max(1, least)
  for (const [counter, whose] of [
    [usage?.callsThisHour, ''] as const,
    [usage?.callsOfThread, ' of this thread'] as const,
  ])
    if (counter?.limit !== undefined && makes > 0 && counter.used + makes > counter.limit) {
      const left = Math.max(0, counter.limit - counter.used)
      const limit = `The limit${whose} of ${counter.limit} calls an hour leaves ${left}`
      report(`${limit}, and it makes ${makes} or more.`, counter.resetsAt)
    }
  const { callsPerRun } = usage ?? {}
  if (callsPerRun !== undefined && least > callsPerRun)
    problems.push({
      path: '',
      code: 'limit-reached',
      action: 'Make fewer calls, or ask for a higher limit.',
      message: `A run may make ${callsPerRun} calls, and it makes ${least} or more.`,
    })
  const tokens = usage?.tokensToday
  if (tokens?.limit !== undefined && tokens.used >= tokens.limit)
    report(`The limit of ${tokens.limit} tokens a day is used up.`, tokens.resetsAt)
  const asks = mayAsk || [...plan.nodes.values()].some(({ node }) => node.type === 'approval')
  if (asks && (await deps.approvals.list(userId, { status: 'pending', limit: MAX_OPEN })).length >= MAX_OPEN)
    problems.push({
      path: '',
      code: 'limit-reached',
      message: `It must ask you, and ${MAX_OPEN} approvals of yours are open already.`,
      action: 'Answer some of them first.',
    })
  return problems
}

const distinct = (problems: readonly Problem[]) => [
  ...new Map(problems.map((problem) => [`${problem.path}\n${problem.message}`, problem])).values(),
]

const UNITS = { maxSteps: 'steps', budget: 'tokens' } as const

/** Warns about agent nodes that request more than the operator allows; the operator limit applies. */
export function overCeiling({ nodes }: Plan, ceiling: AgentCeiling): string[] {
  return [...nodes.values()].flatMap(({ node, index }) => {
    if (node.type !== 'agent') return []
    return (['maxSteps', 'budget'] as const).flatMap((field) => {
      const requested = node[field]
      const allowed = ceiling[field]
      if (requested === undefined || allowed === undefined || requested <= allowed) return []
      const location = `Node '${node.id}' (nodes.${index}.${field})`
      return [
        `${location} asks for ${requested} ${UNITS[field]}, and the operator allows an answer ${allowed}: ${allowed} will hold.`,
      ]
    })
  })
}
