/** Reads the inline toolkits of a call once, before the run starts. Errors name the field that the caller sent. */
import type { Catalog } from '../catalog/catalog.ts'
import { createExecutionContext, type ExecutionContext } from '../context.ts'
import { type FieldError, HostError } from '../errors.ts'
import { candidatesOf } from '../loadout/candidates.ts'
import type { OfferedToolkit } from '../loadout/overlay.ts'
import { assertPlainJson } from '../schema/json.ts'
import type { PrincipalInput } from '../schema/principal.ts'
import type { PolicyRuleInput } from '../schema/toolkit/policy.ts'
import { createEphemeralToolkit } from '../toolkits/ephemeral-toolkit.ts'
import type { StoredToolkit } from '../toolkits/stored-toolkit.ts'

export interface InlineInput {
  principal: PrincipalInput
  mcpServers?: Record<string, unknown> | undefined
  rules?: readonly PolicyRuleInput[] | undefined
}

export type InlineToolkits = ExecutionContext['toolkits']

/** Returns all problems of all toolkits at once. */
export function readInlineToolkits({ principal, mcpServers = {}, rules }: InlineInput): {
  toolkits: InlineToolkits
  errors: readonly FieldError[]
} {
  try {
    assertPlainJson({ mcpServers })
    const { toolkits } = createExecutionContext({
      principal,
      toolkits: mcpServers,
      ...(rules ? { rules: [...rules] as never } : {}),
    })
    return { toolkits, errors: [] }
  } catch (error) {
    if (!HostError.is(error) || error.code !== 'invalid-input') throw error
    return { toolkits: {}, errors: (error.errors ?? []).map(withSentPath) }
  }
}

/** `createExecutionContext` reports `toolkits`; callers send `mcpServers`. */
const withSentPath = ({ path, message }: FieldError): FieldError => ({
  path: path.replace(/^toolkits(?=\.|$)/, 'mcpServers'),
  message,
})

/** Inline toolkits of a future run with their cached tools; connects to no server. */
export async function previewInlineToolkits(
  { catalog }: { catalog: Pick<Catalog, 'tools'> },
  userId: string,
  toolkits: InlineToolkits,
): Promise<{ brings: Map<string, StoredToolkit>; offered: OfferedToolkit[] }> {
  const storedToolkits = await Promise.all(
    Object.values(toolkits).map((toolkit) => createEphemeralToolkit(toolkit, { userId })),
  )
  const toolsByToolkit =
    storedToolkits.length === 0 ? new Map() : await catalog.tools(userId, storedToolkits, { asIs: true })
  const offered = storedToolkits.flatMap((stored) => {
    const { toolkit, tier, uscoId, enabled } = stored
    const tools = toolsByToolkit.get(uscoId) ?? []
    if (tools.length === 0 || !enabled) return []
    const candidates = candidatesOf({ toolkit, tier, uscoId, tools })
    return [{ id: toolkit.id, tier, uscoId, candidates, from: { stored, tools } }]
  })
  return { brings: new Map(storedToolkits.map((stored) => [stored.toolkit.id, stored])), offered }
}
