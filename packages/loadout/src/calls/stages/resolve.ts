/** Resolves the tool of a call. A toolkit without known tools is introspected first. */
import type { Catalog, CatalogTool } from '../../catalog/catalog.ts'
import { HostError } from '../../errors.ts'
import type { Registry } from '../../toolkits/registry.ts'
import { assertEnabled, isUnseen, type StoredToolkit } from '../../toolkits/stored-toolkit.ts'
import { type CallHandler, type CallOutcome, failed, type ResolvedCall, type Stage, type ToolCall } from '../call.ts'

export interface ResolveDeps {
  registry: Pick<Registry, 'find'>
  catalog: Pick<Catalog, 'tools' | 'introspect' | 'isPersonal'>
}

export function resolveTool({ registry, catalog }: ResolveDeps) {
  const listTools = async (stored: StoredToolkit, userId: string) =>
    (await catalog.tools(userId, [stored])).get(stored.uscoId) ?? []
  return (next: CallHandler<ResolvedCall>): CallHandler =>
    async (call: ToolCall): Promise<CallOutcome> => {
      const stored = assertEnabled(
        call.inlineToolkits?.get(call.toolkit) ?? (await registry.find(call.userId, call.toolkit)),
      )
      let tools = await listTools(stored, call.userId)
      if (tools.length === 0 || (isUnseen(stored) && !(await catalog.isPersonal(stored, call.userId)))) {
        await catalog.introspect(stored, call.userId, call.trace)
        tools = await listTools(stored, call.userId)
      }
      const found = tools.find((tool) => tool.manifest.name === call.tool)
      if (!found || found.inactive !== undefined) return failed(notFound(stored, { call, tools, why: found?.inactive }))
      call.notes.found = { toolkit: stored.toolkit.id, tool: found.manifest.name }
      return next({ ...call, stored, found })
    }
}

const MAX_NAMES = 20

function notFound(
  stored: StoredToolkit,
  { call, tools, why }: { call: ToolCall; tools: readonly CatalogTool[]; why: string | undefined },
): HostError {
  const { id } = stored.toolkit
  const names = tools.filter((tool) => tool.inactive === undefined).map((tool) => tool.manifest.name)
  const available =
    names.length === 0
      ? 'It has no tools.'
      : `It has: ${names.slice(0, MAX_NAMES).join(', ')}${names.length > MAX_NAMES ? ', …' : ''}.`
  const detail =
    why === undefined
      ? `Tool '${id}.${call.tool.slice(0, 100)}' not found in server '${id}'. ${available}`
      : `Tool '${id}.${call.tool}' cannot be used: ${why}.`
  return new HostError('tool-not-found', { detail, action: 'Re-introspect server or remove tool.' })
}

/** Notes the tool of the call, for outcomes that a later stage decides. */
export const withResolved: Stage = (next) => (call) => {
  call.notes.resolved = call
  return next(call)
}
