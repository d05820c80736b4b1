/**
 * Looks ahead, before a run and on demand: everything that would stop it, each by name and all at once. It calls no tool and
 * starts no server: what is known of a server is what was seen of it last. A server that nobody looked at yet is named in
 * `unseen`; a run looks at those first, and then here again.
 */
import { compileGlob } from '../schema/glob.ts'
import { checkTool } from './check-tool.ts'
import { type Need, needsOf } from './needs.ts'
import type { Plan } from './plan.ts'
import {
  type Checked,
  type PreflightParts,
  type PreflightScope,
  type Problem,
  surroundingsOf,
  type World,
} from './surroundings.ts'

export type { PreflightParts, PreflightScope, Problem }

export interface Preflight {
  ok: boolean
  problems: Problem[]
  /** What does not stop it. */
  warnings: string[]
  /** Toolkits whose server must be looked at before more can be said. */
  unseen: string[]
}

/** So many questions may be open. */
const MOST_OPEN = 100

export async function preflight(parts: PreflightParts, plan: Plan, scope: PreflightScope): Promise<Preflight> {
  const needs = needsOf(plan)
  // Before a run begins nobody knows what it will bring; once it has, what is not there is missing.
  const awaited = scope.failed === undefined ? plan.definition.brings : []
  const world = { ...(await look(parts, scope, needs)), awaited }
  const problems: Problem[] = [...cannot(parts, plan)]
  const warnings = new Set<string>()
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

async function look(parts: PreflightParts, scope: PreflightScope, needs: readonly Need[]) {
  const around = await surroundingsOf(parts, scope, needs)
  const carried = scope.loadout.toolkits.filter(({ tier }) => tier === 'call').map(({ id }) => id)
  return { ...scope, ...around, available: [...new Set([...carried, ...around.stored.keys()])] }
}

/** A toolkit or a glob: something of it must be there; what of it is broken is told, and does not stop the others. */
function checkMany({ ref, toolkit, path, planned }: Need, world: World): Checked {
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
function cannot({ can }: PreflightParts, { nodes }: Plan): Problem[] {
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

interface Spending {
  needs: readonly Need[]
  plan: Plan
  mayAsk: boolean
}

/** Limits that are used up, or would be by what is written down alone. */
async function spent(
  parts: PreflightParts,
  { userId }: PreflightScope,
  { needs, plan, mayAsk }: Spending,
): Promise<Problem[]> {
  const problems: Problem[] = []
  const usage = await parts.usage(userId)
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
  const { used = 0, limit, resetsAt = '' } = usage?.callsThisHour ?? {}
  if (limit !== undefined && needs.length > 0 && used + Math.max(1, least) > limit)
    tell(
      `The limit of ${limit} calls an hour leaves ${Math.max(0, limit - used)}, and it makes ${Math.max(1, least)} or more.`,
      resetsAt,
    )
  const tokens = usage?.tokensToday
  if (tokens?.limit !== undefined && tokens.used >= tokens.limit)
    tell(`The limit of ${tokens.limit} tokens a day is used up.`, tokens.resetsAt)
  const asks = mayAsk || [...plan.nodes.values()].some(({ node }) => node.type === 'approval')
  if (asks && (await parts.approvals.list(userId, { status: 'pending', limit: MOST_OPEN })).length >= MOST_OPEN)
    problems.push({
      path: '',
      code: 'limit-reached',
      message: `It must ask you, and ${MOST_OPEN} approvals of yours are open already.`,
      action: 'Answer some of them first.',
    })
  return problems
}

const distinct = (problems: readonly Problem[]) => [
  ...new Map(problems.map((one) => [`${one.path}\n${one.message}`, one])).values(),
]
