/** What a look ahead is about: what this user has, what is known of it, and what was found to be wrong. */

import type { Catalog, CatalogTool } from '../../catalog/catalog.ts'
import type { Connector } from '../../connections/connector.ts'
import type { ErrorCode } from '../../errors.ts'
import type { Loadout } from '../../loadout/overlay.ts'
import type { FailedToolkit } from '../../loadout/setup/setup-toolkits.ts'
import type { OAuthService } from '../../oauth/service.ts'
import type { Approvals } from '../../policy/approvals/approvals.ts'
import type { Usage } from '../../policy/limits/usage.ts'
import type { Policy } from '../../policy/policy.ts'
import type { JsonObject } from '../../schema/json.ts'
import type { PolicyRuleInput } from '../../schema/toolkit/policy.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Registry } from '../../toolkits/registry.ts'
import type { StoredToolkit } from '../../toolkits/stored-toolkit.ts'
import type { Agent } from '../agent.ts'
import type { Need } from './required-tools.ts'

export interface Problem {
  /** Its place in the definition; empty where it is about all of it. */
  path: string
  code: ErrorCode
  message: string
  action: string
  node?: string | undefined
  /** What it is about: a toolkit or a tool. */
  ref?: string | undefined
}

export interface Checked {
  problems: Problem[]
  warnings: string[]
  isUnseen?: boolean | undefined
  asks?: boolean | undefined
}

export interface PreflightDeps {
  registry: Pick<Registry, 'list'>
  catalog: Pick<Catalog, 'tools'>
  connector: Pick<Connector, 'stateOf'>
  signIns: Pick<OAuthService, 'view'>
  policy: Policy
  approvals: Pick<Approvals, 'list'>
  storage: Storage
  /** None where nothing is limited. */
  usage(userId: string, threadId?: string): Promise<RunLimits | undefined>
  /** What keeps a model from being asked; nothing is sent to find out. */
  modelProblem?: Agent['problem']
  /** What the operator allows an agent. */
  agentCeiling?: Agent['ceiling']
  /** What this host can do at all. */
  can: { programs: boolean; agents: boolean }
}

/** What limits a run: what is left to its user and its thread, and what it may make itself. */
export interface RunLimits extends Partial<Usage> {
  callsOfThread?: Usage['callsThisHour'] | undefined
  callsPerRun?: number | undefined
}

export interface PreflightScope {
  userId: string
  threadId?: string | undefined
  /** What is carried. */
  loadout: Loadout
  /** What the run itself brings, by id. */
  inlineToolkits?: ReadonlyMap<string, StoredToolkit> | undefined
  /** Toolkits that did not start. */
  failed?: readonly FailedToolkit[] | undefined
  /** Before a run: what it will bring, by id. It goes before what is stored, as it does in the run. */
  expectedInline?: ReadonlyMap<string, StoredToolkit> | undefined
  rules?: readonly PolicyRuleInput[] | undefined
}

/** All that is known, read once. */
export interface PreflightState extends PreflightScope, PreflightContext {
  available: readonly string[]
  /** Toolkits that a run may still bring along. */
  awaited: readonly string[]
}

export interface PreflightContext {
  stored: ReadonlyMap<string, StoredToolkit>
  tools: ReadonlyMap<string, readonly CatalogTool[]>
  /** Tools of the marketplace, for toolkits that nobody looked at yet. */
  market: ReadonlyMap<string, readonly MarketplaceTool[]>
}

/** The user's toolkits, and the tools of those that are meant, as they are known: no server is looked at. */
export async function createPreflightContext(
  deps: Pick<PreflightDeps, 'registry' | 'catalog' | 'storage'>,
  { userId, inlineToolkits, expectedInline }: Pick<PreflightScope, 'userId' | 'inlineToolkits' | 'expectedInline'>,
  needs: readonly Need[],
): Promise<PreflightContext> {
  const toolkits = await deps.registry.list(userId)
  const stored = new Map(toolkits.map((toolkit) => [toolkit.toolkit.id, toolkit]))
  const wanted = toolkits.filter(({ toolkit }) => needs.some((need) => need.toolkit === toolkit.id))
  const inline = [...(inlineToolkits?.values() ?? []), ...(expectedInline?.values() ?? [])]
  const tools = await deps.catalog.tools(userId, [...wanted, ...inline], { asIs: true })
  return { stored, tools, market: await marketplaceTools(deps.storage, userId, wanted) }
}

/** Tools of marketplace servers as the registry lists them (`mcp.tools`): known before anybody looked at the server itself. */
/** What is known of a tool, wherever it is listed. */
export interface MarketplaceTool {
  name: string
  inputSchema: JsonObject
}

export async function marketplaceTools(
  storage: Storage,
  userId: string,
  toolkits: readonly StoredToolkit[],
): Promise<ReadonlyMap<string, readonly MarketplaceTool[]>> {
  const listed = toolkits.filter(({ row }) => row.serverId !== null)
  if (listed.length === 0) return new Map()
  return storage.transaction({ userId }, async (tx) => {
    const found = new Map<string, readonly MarketplaceTool[]>()
    for (const { uscoId, row } of listed) {
      const serverId = row.serverId as string
      const [version] = await tx.list('serverVersions', { where: { serverId, isLatest: true } })
      const tools = version ? await tx.list('tools', { where: { sverId: version.sverId } }) : []
      found.set(
        uscoId,
        tools.map(({ name, inputSchemaJson: inputSchema }) => ({ name, inputSchema })),
      )
    }
    return found
  })
}
