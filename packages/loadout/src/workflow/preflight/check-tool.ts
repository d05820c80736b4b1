/**
 * Checks one required tool: toolkit and tool exist, the policy allows the call, and static arguments match the schema.
 */

import type { CatalogTool } from '../../catalog/catalog.ts'
import { REDACTED_REASON, redactState } from '../../connections/redact-errors.ts'
import type { FieldError } from '../../errors.ts'
import { compileSchema } from '../../json-schema/validator.ts'
import { callersOf } from '../../loadout/candidates.ts'
import type { JsonObject } from '../../schema/json.ts'
import type { LoadoutEntry } from '../../schema/toolkit/loadout-entry.ts'
import type { StoredToolkit } from '../../toolkits/stored-toolkit.ts'
import type { Template } from '../expressions/template.ts'
import type { Checked, PreflightDeps, PreflightState, Problem } from './context.ts'
import type { Need } from './required-tools.ts'

type Report = (code: Problem['code'], message: string, action: string) => void

export async function checkTool(deps: PreflightDeps, need: Need, state: PreflightState): Promise<Checked> {
  const { ref, toolkit, path, planned } = need
  const problems: Problem[] = []
  const report: Report = (code, message, action) =>
    problems.push({ path, node: planned.node.id, ref, code, message, action })
  const inlineEntry = state.loadout.entries.find((entry) => entry.ref === ref && entry.tier === 'call')
  if (inlineEntry) return checkInline(deps, need, { state, entry: inlineEntry, problems, report })
  const expected = state.expectedInline?.get(toolkit)
  if (expected && !state.loadout.toolkits.some(isInline(toolkit)))
    return checkExpected(need, expected, { problems, report })
  const failed = state.failed?.find(({ id }) => id === toolkit)
  if (failed && !state.stored.has(toolkit))
    report(failed.code, `The toolkit '${toolkit}' does not serve: ${failed.reason}`, failed.action)
  else if (state.loadout.toolkits.some(isInline(toolkit))) report(...missingTool(need))
  else {
    const stored = state.stored.get(toolkit)
    if (stored) return checkStored(deps, need, { state, stored, problems, report, failed: failed?.reason })
    if (state.awaited.includes(toolkit)) return { problems, warnings: [], isUnseen: true }
    const available = state.available.join(', ') || 'nothing'
    report(
      'not-found',
      `Requested '${toolkit}', and there is no such toolkit. Available: ${available}.`,
      'Add the toolkit, or remove the tool.',
    )
  }
  return { problems, warnings: [] }
}

const isInline = (toolkit: string) => (candidate: { id: string; tier: string }) =>
  candidate.id === toolkit && candidate.tier === 'call'

/** Checks an inline toolkit of a future run by its record only, because its tools are unknown. */
function checkExpected(
  need: Need,
  { enabled, toolkit }: StoredToolkit,
  { problems, report }: Pick<ToolCheck, 'problems' | 'report'>,
): Checked {
  if (!enabled) {
    report('not-carried', `The toolkit '${toolkit.id}' does not serve: It is switched off.`, 'Switch it on first.')
    return { problems, warnings: [] }
  }
  callerProblems(need, callersOf(toolkit, need.tool ?? ''), report)
  return { problems, warnings: [], isUnseen: true }
}

export const missingTool = ({ ref, toolkit }: Need): Parameters<Report> => [
  'tool-not-found',
  `Tool '${ref}' not found in server '${toolkit}'. Re-introspect server or remove tool.`,
  'Re-introspect server or remove tool.',
]

interface ToolCheck {
  state: PreflightState
  stored: StoredToolkit
  problems: Problem[]
  report: Report
  failed: string | undefined
}

async function checkStored(deps: PreflightDeps, need: Need, check: ToolCheck): Promise<Checked> {
  const { state, stored, problems, report } = check
  const { toolkit, ref } = need
  if (!stored.enabled)
    report('not-carried', `The toolkit '${toolkit}' is switched off.`, 'Switch it on, or remove the tool.')
  await checkConnection(deps, need, check)
  const { cataloged, schema, isUnseen } = findCheckedTool(need, stored, state)
  if (isUnseen) return { problems, warnings: [], isUnseen }
  if (!schema) report(...missingTool(need))
  if (!schema) return { problems, warnings: [] }
  const entry = state.loadout.entries.find((candidate) => candidate.ref === ref && candidate.uscoId === stored.uscoId)
  if (cataloged) pinProblems(cataloged, need, report)
  if (entry && !entry.included && stored.enabled) reportNotIncluded(entry, report)
  callerProblems(need, callersOf(stored.toolkit, need.tool ?? ''), report)
  argumentProblems(need, schema, problems)
  const asks = cataloged ? await needsApproval(deps, need, { ...check, cataloged }) : false
  return { problems, warnings: [], asks }
}

/** Finds a tool in the user's catalog or in the marketplace. No schema means that it does not exist. */
export function findCheckedTool(
  { tool }: Need,
  { uscoId, row }: StoredToolkit,
  { tools, market }: Pick<PreflightState, 'tools' | 'market'>,
): { cataloged?: CatalogTool | undefined; schema?: JsonObject | undefined; isUnseen: boolean } {
  const catalogTools = tools.get(uscoId) ?? []
  const cataloged = catalogTools.find(({ manifest, inactive }) => manifest.name === tool && inactive === undefined)
  if (cataloged) return { cataloged, schema: cataloged.manifest.inputSchema, isUnseen: false }
  const listed = market.get(uscoId)
  const isUnseen = catalogTools.length === 0 && row.introspectedAt === null && row.introspectionStatus !== 'error'
  if (listed && isUnseen) return { schema: listed.find(({ name }) => name === tool)?.inputSchema, isUnseen: false }
  return { isUnseen }
}

function pinProblems({ changed, blocked }: CatalogTool, { ref }: Need, report: Report): void {
  if (changed)
    report(
      'tool-changed',
      `The tool '${ref}' is not what was accepted: its server changed it.`,
      'Review the change and accept it.',
    )
  else if (blocked)
    report(
      'tool-not-accepted',
      `The tool '${ref}' is off: its server is not trusted, and nobody accepted the tool yet.`,
      'Look at the tool and accept it, or trust its server.',
    )
}

/** Pin and policy reasons are reported by `pinProblems` and `needsApproval`. */
function reportNotIncluded({ ref, reasons }: LoadoutEntry, report: Report): void {
  const against = reasons.filter(({ speaks, kind }) => speaks === 'against' && kind !== 'pin' && kind !== 'policy')
  if (against.length === 0) return
  report(
    'not-carried',
    `The tool '${ref}' is not carried. ${against.map(({ detail }) => detail).join(' ')}`,
    'Activate the toolkit or tool where it is off.',
  )
}

function callerProblems({ caller, ref }: Need, allowed: readonly string[], report: Report): void {
  if (caller === 'workflow' || allowed.includes(caller)) return
  report(
    'not-carried',
    `The tool '${ref}' may not be called by "${caller}", only by ${allowed.join(', ')}.`,
    'Change allowedCallers of the toolkit or the tool, or use a tool node.',
  )
}

/** Checks the last connection state and the user's sign-in. */
async function checkConnection(
  deps: PreflightDeps,
  { toolkit }: Need,
  { stored, state, report, failed }: ToolCheck,
): Promise<void> {
  const signIn = await deps.signIns.view(stored, state.userId)
  const live = deps.connector.stateOf(stored, state.userId)
  if (signIn?.status === 'sign-in-needed' || live?.status === 'sign-in-needed')
    return report(
      'sign-in-needed',
      `You are not signed in to the server of '${toolkit}'.`,
      live?.url ?? 'Sign in to the server, then run it again.',
    )
  const isRedacted = stored.tier === 'app'
  const visibleState = live?.status === 'error' && isRedacted ? redactState(live) : live
  if (visibleState?.status === 'error')
    return report(
      'server-unreachable',
      `The server of '${toolkit}' does not work: ${visibleState.reason}`,
      visibleState.action,
    )
  const { lastFailure } = stored
  if (lastFailure && live?.status !== 'connected') {
    const reason = isRedacted ? REDACTED_REASON : `${lastFailure.code}: ${lastFailure.reason}`
    return report(
      'server-unreachable',
      `The server of '${toolkit}' does not work: ${reason}`,
      'Correct the toolkit, or refresh its tools.',
    )
  }
  if (failed !== undefined && stored.enabled)
    report(
      'server-unreachable',
      `The toolkit '${toolkit}' does not serve: ${failed}`,
      'Correct the toolkit, or refresh its tools.',
    )
}

/** Returns whether the call needs an approval; reports a denial. */
async function needsApproval(
  { policy }: PreflightDeps,
  { ref, caller }: Need,
  { state, stored, cataloged, report }: Pick<ToolCheck, 'state' | 'stored' | 'report'> & { cataloged: CatalogTool },
): Promise<boolean> {
  const { userId, threadId, rules } = state
  const { decision, reason } = await policy.decide({
    userId,
    threadId,
    stored,
    found: cataloged,
    caller: { type: caller },
    rules,
  })
  if (decision === 'deny')
    report(
      'denied',
      `The call of '${ref}' is denied. ${reason}`,
      'Ask for permission where the reason says who denied it.',
    )
  return decision === 'ask'
}

/** Checks a tool of an inline toolkit, which the run discovered just now. */
async function checkInline(
  deps: PreflightDeps,
  need: Need,
  { state, entry, problems, report }: Pick<ToolCheck, 'state' | 'problems' | 'report'> & { entry: LoadoutEntry },
): Promise<Checked> {
  if (!entry.included) reportNotIncluded(entry, report)
  callerProblems(need, entry.allowedCallers, report)
  argumentProblems(need, entry.manifest.inputSchema, problems)
  const stored = state.inlineToolkits?.get(need.toolkit) ?? state.expectedInline?.get(need.toolkit)
  const catalogTools = stored ? (state.tools.get(stored.uscoId) ?? []) : []
  const cataloged = catalogTools.find(({ manifest }) => manifest.name === need.tool)
  const asks = stored && cataloged ? await needsApproval(deps, need, { state, stored, cataloged, report }) : false
  return { problems, warnings: [], asks }
}

export function argumentProblems({ planned, ref }: Need, schema: JsonObject | undefined, problems: Problem[]): void {
  const { node, texts, index } = planned
  if (!schema || node.type !== 'tool' || !texts.arguments) return
  for (const { path: at, message } of checkStatic(texts.arguments, node.arguments, schema))
    problems.push({
      path: at === '(root)' ? `nodes.${index}.arguments` : `nodes.${index}.arguments.${at}`,
      node: node.id,
      ref,
      code: 'invalid-input' as const,
      action: 'Correct the argument.',
      message: `The arguments of '${ref}' do not fit: ${at === '(root)' ? '' : `${at} `}${message}`,
    })
}

/** Path of the root value in schema errors. */
const ROOT = '(root)'
export function checkStatic(template: Template, args: JsonObject, schema: JsonObject): FieldError[] {
  const compiled = compileSchema(schema, { assertFormats: false })
  if (!compiled.ok) return []
  const result = compiled.validate(args)
  if (result.valid !== false) return []
  const openPaths = template.dynamicPaths.map((path) => path.join('.'))
  return result.errors.filter(({ path }) => {
    const at = path === ROOT ? '' : path
    // An evaluated value may match, and so may every value that contains it.
    return !openPaths.some(
      (openPath) => at === '' || at === openPath || at.startsWith(`${openPath}.`) || openPath.startsWith(`${at}.`),
    )
  })
}
