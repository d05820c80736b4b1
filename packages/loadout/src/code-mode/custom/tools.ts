/** Resolves the tools that a custom tool declares, under the function names of programs. */

import { isBuiltIn } from '../../calls/built-in/built-in-tools.ts'
import type { ToolCall } from '../../calls/call.ts'
import type { Catalog } from '../../catalog/catalog.ts'
import type { Loadouts } from '../../loadout/loadouts.ts'
import { compileRef } from '../../schema/glob.ts'
import { codeNames, type Named } from '../function-names.ts'

/** Globals of the code that no toolkit may shadow. */
export const CUSTOM_GLOBALS = ['fetch', 'secrets', 'call', 'read_result'] as const

export interface DeclaredCustomTool extends Named {
  /** Toolkit identifier in calls. */
  address: string
}

export interface DeclaredDeps {
  loadouts: Pick<Loadouts, 'resolve'>
  catalog: Pick<Catalog, 'tools'>
}

type Scope = Pick<ToolCall, 'userId' | 'threadId' | 'inlineToolkits'>

/** By ref, in loadout order. */
export async function customToolRefs(
  { loadouts, catalog }: DeclaredDeps,
  { userId, threadId, inlineToolkits }: Scope,
  declared: readonly string[] = [],
): Promise<Map<string, DeclaredCustomTool>> {
  if (declared.length === 0) return new Map()
  const patterns = declared.map(compileRef)
  const { tools } = await loadouts.resolve({ userId, threadId })
  const fromLoadout = tools.flatMap((entry): DeclaredCustomTool[] =>
    isBuiltIn(entry) || inlineToolkits?.has(entry.toolkit)
      ? []
      : [{ ...named(entry), address: entry.uscoId ?? entry.toolkit }],
  )
  const inline = await inlineTools(catalog, { userId, inlineToolkits })
  const matching = [...inline, ...fromLoadout].filter(({ toolkit, tool }) =>
    patterns.some((pattern) => pattern.matches(toolkit, tool)),
  )
  return new Map(matching.map((tool) => [tool.ref, tool]))
}

const named = ({ ref, toolkit, tool }: Named): Named => ({ ref, toolkit, tool })

async function inlineTools(
  catalog: DeclaredDeps['catalog'],
  { userId, inlineToolkits }: Pick<Scope, 'userId' | 'inlineToolkits'>,
): Promise<DeclaredCustomTool[]> {
  if (!inlineToolkits) return []
  const toolsByToolkit = await catalog.tools(userId, [...inlineToolkits.values()])
  return [...inlineToolkits].flatMap(([id, { uscoId }]) =>
    (toolsByToolkit.get(uscoId) ?? []).map(({ manifest: { name: tool } }) => ({
      ref: `${id}.${tool}`,
      toolkit: id,
      tool,
      address: id,
    })),
  )
}

/** Ref by object and function name, for names that occur in the code. */
export function declaredNames(
  declared: ReadonlyMap<string, DeclaredCustomTool>,
  code: string,
): Map<string, Map<string, string>> {
  const objects = new Map<string, Map<string, string>>()
  for (const [ref, { object, name, aliases }] of codeNames(declared.values(), { reserved: CUSTOM_GLOBALS })) {
    if (!code.includes(object)) continue
    const names = objects.get(object) ?? new Map<string, string>()
    for (const one of [name, ...aliases]) names.set(one, ref)
    objects.set(object, names)
  }
  return objects
}
