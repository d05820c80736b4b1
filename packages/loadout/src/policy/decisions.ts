/**
 * Previews the decision about each tool of a toolkit, with and without the user's own rules and permissions, so that
 * the effect of a rule is visible. Requests no approval and calls nothing.
 */
import type { Catalog, CatalogTool } from '../catalog/catalog.ts'
import { HostError } from '../errors.ts'
import { parseToolRef } from '../schema/toolkit/tool.ts'
import type { Registry } from '../toolkits/registry.ts'
import type { StoredToolkit } from '../toolkits/stored-toolkit.ts'
import type { Decided } from './decide.ts'
import type { Grant, Grants } from './grants.ts'
import type { Policy } from './policy.ts'

export interface ToolDecision extends Pick<Decided, 'decision' | 'reason' | 'rule' | 'tier'> {
  ref: string
  /** Decision of the app, without settings of the user. */
  inherited: Pick<Decided, 'decision' | 'reason' | 'allowRemember'>
}

export interface Decisions {
  list(userId: string, toolkit: string): Promise<ToolDecision[]>
  /** Saves a permission before a call. Refused if the deciding rule does not permit it. */
  remember(userId: string, ref: string, decision: Grant['decision']): Promise<Grant>
}

export interface DecisionsDeps {
  policy: Pick<Policy, 'preview'>
  grants: Pick<Grants, 'give'>
  registry: Pick<Registry, 'find'>
  catalog: Pick<Catalog, 'tools'>
}

const caller = { type: 'direct' as const }

export function createDecisions({ policy, grants, registry, catalog }: DecisionsDeps): Decisions {
  const toolsOf = async (userId: string, id: string) => {
    const stored = await registry.find(userId, id)
    const tools = (await catalog.tools(userId, [stored])).get(stored.uscoId) ?? []
    return { stored, tools: tools.filter(({ inactive }) => inactive === undefined) }
  }
  const preview = (userId: string, stored: StoredToolkit, found: CatalogTool) =>
    policy.preview({ userId, stored, found, caller })

  return {
    async list(userId, id) {
      const { stored, tools } = await toolsOf(userId, id)
      return Promise.all(
        tools.map(async (found) => {
          const { decided, inherited } = await preview(userId, stored, found)
          const { allowEdits: _, allowRemember: _remember, ...now } = decided
          const { decision, reason, allowRemember } = inherited
          const ref = `${stored.toolkit.id}.${found.manifest.name}`
          return { ref, ...now, inherited: { decision, reason, allowRemember } }
        }),
      )
    },
    async remember(userId, ref, decision) {
      const address = parseToolRef(ref)
      if (!address) throw refused('must be "toolkit.tool"')
      const { stored, tools } = await toolsOf(userId, address.toolkit)
      const found = tools.find(({ manifest }) => manifest.name === address.tool)
      if (!found) throw new HostError('not-found', { detail: `There is no tool "${ref.slice(0, 100)}" of yours.` })
      const { inherited } = await preview(userId, stored, found)
      if (decision === 'allow' && (inherited.decision === 'deny' || !inherited.allowRemember))
        throw refused('cannot be allowed ahead: the rule that decides does not permit it')
      return grants.give({ userId, stored, found }, decision)
    },
  }
}

const refused = (message: string) =>
  new HostError('invalid-input', { detail: `ref ${message}`, errors: [{ path: 'ref', message }] })
