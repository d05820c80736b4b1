/** Inputs and findings of preflight. */

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
  /** Path in the definition; empty for the whole workflow. */
  path: string
  code: ErrorCode
  message: string
  action: string
  node?: string | undefined
  /** The toolkit or tool. */
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
  /** Undefined if there are no limits. */
  usage(userId: string, threadId?: string): Promise<PreflightLimits | undefined>
  /** Reports why a model cannot be used; sends no request. */
  modelProblem?: Agent['problem']
  /** Operator limits for agents. */
  agentCeiling?: Agent['ceiling']
  /** Node types that this host can run. */
  can: { programs: boolean; agents: boolean }
}

/** Remaining calls of the user and the thread, and the limit per run. */
export interface PreflightLimits extends Partial<Usage> {
  callsOfThread?: Usage['callsThisHour'] | undefined
  callsPerRun?: number | undefined
}

export interface PreflightScope {
  userId: string
  threadId?: string | undefined
  /** The resolved loadout. */
  loadout: Loadout
  /** Inline toolkits of the run, by ID. */
  inlineToolkits?: ReadonlyMap<string, StoredToolkit> | undefined
  /** Toolkits that did not start. */
  failed?: readonly FailedToolkit[] | undefined
  /** Inline toolkits of a future run, by ID; they take precedence over stored toolkits. */
  expectedInline?: ReadonlyMap<string, StoredToolkit> | undefined
  rules?: readonly PolicyRuleInput[] | undefined
}

/** Everything that the checks read, loaded once. */
export interface PreflightState extends PreflightScope, PreflightContext {
  available: readonly string[]
  /** Toolkits that the run may still provide inline. */
  awaited: readonly string[]
}

export interface PreflightContext {
  stored: ReadonlyMap<string, StoredToolkit>
  tools: ReadonlyMap<string, readonly CatalogTool[]>
  /** Marketplace tools of toolkits that were never discovered. */
  market: ReadonlyMap<string, readonly MarketplaceTool[]>
}

/** Loads the user's toolkits and the cached tools of the required ones; connects to no server. */
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

/** A tool as the registry lists it (`mcp.tools`), before its server was ever discovered. */
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
