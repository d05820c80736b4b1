/**
 * Looks ahead, before a run and on demand: everything that would stop it, each by name and all at once. It calls no tool and
 * starts no server: what is known of a server is what was seen of it last. A server that nobody looked at yet is named in
 * `unseen`; a run looks at those first, and then here again.
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
  /** What does not stop it. */
  warnings: string[]
  /** Toolkits whose server must be looked at before more can be said. */
  unseen: string[]
}

/** So many questions may be open. */
const MAX_OPEN = 100

export async function preflight(parts: PreflightDeps, plan: Plan, scope: PreflightScope): Promise<Preflight> {
  const needs = needsOf(plan)
  // Before a run begins nobody knows what it will bring; once it has, what is not there is missing.
  const awaited = scope.failed === undefined ? [...plan.definition.brings, ...(scope.brings?.keys() ?? [])] : []
  const world = { ...(await look(parts, scope, needs)), awaited }
  const problems: Problem[] = [
    ...cannot(parts, plan),
    ...(await broken(parts, plan)),
    ...(await unasked(parts, plan, scope)),
  ]
  const ceiling = (await parts.agentCeiling?.()) ?? {}
  const warnings = new Set([...crowded(scope, needs, world.available), ...overCeiling(plan, ceiling)])
  const unseen = new Set<string>()
  let mayAsk = false
  for (const need of needs) {
    const found = need.tool === undefined ? checkMany(need, world) : await checkTool(parts, need, world)
    problems.push(...found.problems)
    for (const warning of found.warnings) warnings.add(warning)
    if (found.isUnseen) unseen.add(need.toolkit)
    mayAsk ||= found.asks === true
  }
  problems.push(...(await spent(parts, scope, { needs, plan, mayAsk })))
  return { ok: problems.length === 0, problems: distinct(problems), warnings: [...warnings], unseen: [...unseen] }
}

async function look(parts: PreflightDeps, scope: PreflightScope, needs: readonly Need[]) {
  const around = await createPreflightContext(parts, scope, needs)
  const carried = scope.loadout.toolkits.filter(({ tier }) => tier === 'call').map(({ id }) => id)
  return { ...scope, ...around, available: [...new Set([...carried, ...around.stored.keys()])] }
}

/** Of what a run would bring, only so much serves: what its nodes name goes first. */
function crowded({ brings }: PreflightScope, needs: readonly Need[], available: readonly string[]): string[] {
  if (!brings) return []
  const asked = new Set([...toolkitsOf(needs, [...brings.keys(), ...available]), ...brings.keys()])
  const left = [...asked].slice(MAX_TOOLKITS)
  return left.length === 0 ? [] : [tooMany(left)]
}

/** A toolkit or a glob: something of it must be there; what of it is broken is told, and does not stop the others. */
function checkMany({ ref, toolkit, path, planned }: Need, world: PreflightState): Checked {
  const { loadout, available, awaited, failed = [] } = world
  const { matches } = compileGlob(toolkit)
  const broken = failed.filter(({ id }) => matches(id))
  const warnings = broken.map(({ id, reason }) => `The toolkit '${id}' does not serve: ${reason}`)
  if (available.some(matches) || broken.length > 0) {
    const isCarried = broken.length > 0 || loadout.tools.some((entry) => matches(entry.toolkit))
    return { problems: [], warnings: isCarried ? warnings : [...warnings, `Nothing of '${ref}' is carried.`] }
  }
  if (awaited.some(matches)) return { problems: [], warnings, isUnseen: true }
  const message = `Requested '${ref}', and there is no such toolkit. Available: ${available.join(', ') || 'nothing'}.`
  const about = { path, node: planned.node.id, ref, code: 'not-found' as const }
  return { warnings, problems: [{ ...about, message, action: 'Add the toolkit, or remove it from the node.' }] }
}

/** Nodes that no host without an executor or an agent can run. */
function cannot({ can }: PreflightDeps, { nodes }: Plan): Problem[] {
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

/** A definition that was never saved was not held against this yet. */
async function broken({ can }: PreflightDeps, plan: Plan): Promise<Problem[]> {
  const found = can.programs ? await programProblems(plan) : []
  return found.map((one) => ({ ...one, code: 'invalid-input' as const, action: 'Correct the program.' }))
}

/** Models that cannot be asked: one that is not named, or has no key. Each is looked up once. */
async function unasked(
  { modelProblem }: PreflightDeps,
  { nodes }: Plan,
  { userId }: PreflightScope,
): Promise<Problem[]> {
  const problems: Problem[] = []
  const known = new Map<string | undefined, HostError | undefined>()
  for (const { node, index } of nodes.values()) {
    if (node.type !== 'agent' || !modelProblem) continue
    const { model, id } = node
    if (!known.has(model)) known.set(model, await modelProblem(userId, model))
    const found = known.get(model)
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

/** Limits that are used up, or would be by what is written down alone. */
async function spent(
  parts: PreflightDeps,
  { userId, threadId }: PreflightScope,
  { needs, plan, mayAsk }: Spending,
): Promise<Problem[]> {
  const problems: Problem[] = []
  const usage = await parts.usage(userId, threadId)
  const least = needs.filter(
    ({ planned }) => planned.node.type === 'tool' && planned.heldBy === undefined && planned.chosenBy.length === 0,
  ).length
  const tell = (message: string, resetsAt: string) =>
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
      tell(`${limit}, and it makes ${makes} or more.`, counter.resetsAt)
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
    tell(`The limit of ${tokens.limit} tokens a day is used up.`, tokens.resetsAt)
  const asks = mayAsk || [...plan.nodes.values()].some(({ node }) => node.type === 'approval')
  if (asks && (await parts.approvals.list(userId, { status: 'pending', limit: MAX_OPEN })).length >= MAX_OPEN)
    problems.push({
      path: '',
      code: 'limit-reached',
      message: `It must ask you, and ${MAX_OPEN} approvals of yours are open already.`,
      action: 'Answer some of them first.',
    })
  return problems
}

const distinct = (problems: readonly Problem[]) => [
  ...new Map(problems.map((one) => [`${one.path}\n${one.message}`, one])).values(),
]

/** Agent nodes that ask for more than the operator allows one answer: they run, within what is allowed, and it is told before. */
const WORDS = { maxSteps: 'steps', budget: 'tokens' } as const

/** By node and field, with what will hold. */
export function overCeiling({ nodes }: Plan, ceiling: AgentCeiling): string[] {
  return [...nodes.values()].flatMap(({ node, index }) => {
    if (node.type !== 'agent') return []
    return (['maxSteps', 'budget'] as const).flatMap((field) => {
      const [asked, most] = [node[field], ceiling[field]]
      if (asked === undefined || most === undefined || asked <= most) return []
      const place = `Node '${node.id}' (nodes.${index}.${field})`
      return [
        `${place} asks for ${asked} ${WORDS[field]}, and the operator allows an answer ${most}: ${most} will hold.`,
      ]
    })
  })
}
