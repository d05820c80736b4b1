/** Everything that would stop one call: whether its toolkit and its tool are there, may be used, and take what they are given. */

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

type Tell = (code: Problem['code'], message: string, action: string) => void

export async function checkTool(parts: PreflightDeps, need: Need, world: PreflightState): Promise<Checked> {
  const { ref, toolkit, path, planned } = need
  const problems: Problem[] = []
  const tell: Tell = (code, message, action) =>
    problems.push({ path, node: planned.node.id, ref, code, message, action })
  const brought = world.loadout.entries.find((entry) => entry.ref === ref && entry.tier === 'call')
  if (brought) return checkBrought(parts, need, { world, entry: brought, problems, tell })
  const coming = world.brings?.get(toolkit)
  if (coming && !world.loadout.toolkits.some(isBrought(toolkit))) return checkComing(need, coming, { problems, tell })
  const failed = world.failed?.find(({ id }) => id === toolkit)
  if (failed && !world.stored.has(toolkit))
    tell(failed.code, `The toolkit '${toolkit}' does not serve: ${failed.reason}`, failed.action)
  else if (world.loadout.toolkits.some(isBrought(toolkit))) tell(...missingTool(need))
  else {
    const stored = world.stored.get(toolkit)
    if (stored) return checkStored(parts, need, { world, stored, problems, tell, failed: failed?.reason })
    if (world.awaited.includes(toolkit)) return { problems, warnings: [], isUnseen: true }
    const there = world.available.join(', ') || 'nothing'
    tell(
      'not-found',
      `Requested '${toolkit}', and there is no such toolkit. Available: ${there}.`,
      'Add the toolkit, or remove the tool.',
    )
  }
  return { problems, warnings: [] }
}

const isBrought = (toolkit: string) => (one: { id: string; tier: string }) => one.id === toolkit && one.tier === 'call'

/** One that the run will bring, and nobody looked at yet: what its record says. */
function checkComing(
  need: Need,
  { enabled, toolkit }: StoredToolkit,
  { problems, tell }: Pick<Found, 'problems' | 'tell'>,
): Checked {
  if (!enabled) {
    tell('not-carried', `The toolkit '${toolkit.id}' does not serve: It is switched off.`, 'Switch it on first.')
    return { problems, warnings: [] }
  }
  callerProblems(need, callersOf(toolkit, need.tool ?? ''), tell)
  return { problems, warnings: [], isUnseen: true }
}

export const missingTool = ({ ref, toolkit }: Need): Parameters<Tell> => [
  'tool-not-found',
  `Tool '${ref}' not found in server '${toolkit}'. Re-introspect server or remove tool.`,
  'Re-introspect server or remove tool.',
]

interface Found {
  world: PreflightState
  stored: StoredToolkit
  problems: Problem[]
  tell: Tell
  failed: string | undefined
}

async function checkStored(parts: PreflightDeps, need: Need, found: Found): Promise<Checked> {
  const { world, stored, problems, tell } = found
  const { toolkit, ref } = need
  if (!stored.enabled)
    tell('not-carried', `The toolkit '${toolkit}' is switched off.`, 'Switch it on, or remove the tool.')
  await checkConnection(parts, need, found)
  const { cataloged, schema, isUnseen } = findTool(need, stored, world)
  if (isUnseen) return { problems, warnings: [], isUnseen }
  if (!schema) tell(...missingTool(need))
  if (!schema) return { problems, warnings: [] }
  const entry = world.loadout.entries.find((one) => one.ref === ref && one.uscoId === stored.uscoId)
  if (cataloged) pinProblems(cataloged, need, tell)
  if (entry && !entry.included && stored.enabled) notCarried(entry, tell)
  callerProblems(need, callersOf(stored.toolkit, need.tool ?? ''), tell)
  argumentProblems(need, schema, problems)
  const asks = cataloged ? await decided(parts, need, { ...found, cataloged }) : false
  return { problems, warnings: [], asks }
}

/** What is known of the tool: in the user's own catalog, or by the registry. No schema: it is not there. */
export function findTool(
  { tool }: Need,
  { uscoId, row }: StoredToolkit,
  { tools, market }: Pick<PreflightState, 'tools' | 'market'>,
): { cataloged?: CatalogTool | undefined; schema?: JsonObject | undefined; isUnseen: boolean } {
  const known = tools.get(uscoId) ?? []
  const cataloged = known.find(({ manifest, inactive }) => manifest.name === tool && inactive === undefined)
  if (cataloged) return { cataloged, schema: cataloged.manifest.inputSchema, isUnseen: false }
  const listed = market.get(uscoId)
  const isUnseen = known.length === 0 && row.introspectedAt === null && row.introspectionStatus !== 'error'
  if (listed && isUnseen) return { schema: listed.find(({ name }) => name === tool)?.inputSchema, isUnseen: false }
  return { isUnseen }
}

function pinProblems({ changed, blocked: held }: CatalogTool, { ref }: Need, tell: Tell): void {
  if (changed)
    tell(
      'tool-changed',
      `The tool '${ref}' is not what was accepted: its server changed it.`,
      'Review the change and accept it.',
    )
  else if (held)
    tell(
      'tool-not-accepted',
      `The tool '${ref}' is off: its server is not trusted, and nobody accepted the tool yet.`,
      'Look at the tool and accept it, or trust its server.',
    )
}

/** What its pin says is told by its pin, and what is denied by what is decided. */
function notCarried({ ref, reasons }: LoadoutEntry, tell: Tell): void {
  const against = reasons.filter(({ speaks, kind }) => speaks === 'against' && kind !== 'pin' && kind !== 'policy')
  if (against.length === 0) return
  tell(
    'not-carried',
    `The tool '${ref}' is not carried. ${against.map(({ detail }) => detail).join(' ')}`,
    'Activate the toolkit or tool where it is off.',
  )
}

function callerProblems({ caller, ref }: Need, allowed: readonly string[], tell: Tell): void {
  if (caller === 'workflow' || allowed.includes(caller)) return
  tell(
    'not-carried',
    `The tool '${ref}' may not be called by "${caller}", only by ${allowed.join(', ')}.`,
    'Change allowedCallers of the toolkit or the tool, or use a tool node.',
  )
}

/** The last that was seen of its server, and whether this user is signed in to it. */
async function checkConnection(
  parts: PreflightDeps,
  { toolkit }: Need,
  { stored, world, tell, failed }: Found,
): Promise<void> {
  const signIn = await parts.signIns.view(stored, world.userId)
  const live = parts.connector.stateOf(stored, world.userId)
  if (signIn?.status === 'sign-in-needed' || live?.status === 'sign-in-needed')
    return tell(
      'sign-in-needed',
      `You are not signed in to the server of '${toolkit}'.`,
      live?.url ?? 'Sign in to the server, then run it again.',
    )
  const isClosed = stored.tier === 'app'
  const shown = live?.status === 'error' && isClosed ? redactState(live) : live
  if (shown?.status === 'error')
    return tell('server-unreachable', `The server of '${toolkit}' does not work: ${shown.reason}`, shown.action)
  const { lastFailure } = stored
  if (lastFailure && live?.status !== 'connected') {
    const reason = isClosed ? REDACTED_REASON : `${lastFailure.code}: ${lastFailure.reason}`
    return tell(
      'server-unreachable',
      `The server of '${toolkit}' does not work: ${reason}`,
      'Correct the toolkit, or refresh its tools.',
    )
  }
  if (failed !== undefined && stored.enabled)
    tell(
      'server-unreachable',
      `The toolkit '${toolkit}' does not serve: ${failed}`,
      'Correct the toolkit, or refresh its tools.',
    )
}

/** Whether somebody would be asked; what is denied is told. */
async function decided(
  { policy }: PreflightDeps,
  { ref, caller }: Need,
  { world, stored, cataloged, tell }: Pick<Found, 'world' | 'stored' | 'tell'> & { cataloged: CatalogTool },
): Promise<boolean> {
  const { userId, threadId, rules } = world
  const { decision, reason } = await policy.decide({
    userId,
    threadId,
    stored,
    found: cataloged,
    caller: { type: caller },
    rules,
  })
  if (decision === 'deny')
    tell(
      'denied',
      `The call of '${ref}' is denied. ${reason}`,
      'Ask for permission where the reason says who denied it.',
    )
  return decision === 'ask'
}

/** One that the invocation brings: it was looked at just now. */
async function checkBrought(
  parts: PreflightDeps,
  need: Need,
  { world, entry, problems, tell }: Pick<Found, 'world' | 'problems' | 'tell'> & { entry: LoadoutEntry },
): Promise<Checked> {
  if (!entry.included) notCarried(entry, tell)
  callerProblems(need, entry.allowedCallers, tell)
  argumentProblems(need, entry.manifest.inputSchema, problems)
  const stored = world.brought?.get(need.toolkit) ?? world.brings?.get(need.toolkit)
  const known = stored ? (world.tools.get(stored.uscoId) ?? []) : []
  const cataloged = known.find(({ manifest }) => manifest.name === need.tool)
  const asks = stored && cataloged ? await decided(parts, need, { world, stored, cataloged, tell }) : false
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

/** Arguments held against a tool's schema before anything is run: what is written down must fit, the rest is left open. */
const ROOT = '(root)'
export function checkStatic(template: Template, args: JsonObject, schema: JsonObject): FieldError[] {
  const compiled = compileSchema(schema, { assertFormats: false })
  if (!compiled.ok) return []
  const result = compiled.validate(args)
  if (result.valid !== false) return []
  const open = template.places.map((place) => place.join('.'))
  return result.errors.filter(({ path }) => {
    const at = path === ROOT ? '' : path
    // What is evaluated may fit, and so may all that it is a part of.
    return !open.some((place) => at === '' || at === place || at.startsWith(`${place}.`) || place.startsWith(`${at}.`))
  })
}
