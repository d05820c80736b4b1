/** Which tools of its scope the code of a custom tool may call: those that it declares, by the names that programs have. */

import { isBuiltIn } from '../../calls/built-in/built-in-tools.ts'
import type { ToolCall } from '../../calls/call.ts'
import type { Catalog } from '../../catalog/catalog.ts'
import type { Loadouts } from '../../loadout/loadouts.ts'
import { compileRef } from '../../schema/glob.ts'
import { codeNames, type Named } from '../function-names.ts'

/** Words of the code itself, which no toolkit hides. */
export const CUSTOM_GLOBALS = ['fetch', 'secrets', 'call', 'read_result'] as const

export interface Declared extends Named {
  /** As a call names its toolkit. */
  address: string
}

export interface DeclaredDeps {
  loadouts: Pick<Loadouts, 'resolve'>
  catalog: Pick<Catalog, 'tools'>
}

type Scope = Pick<ToolCall, 'userId' | 'threadId' | 'inlineToolkits'>

/** By ref, in the order of the loadout. */
export async function declaredTools(
  { loadouts, catalog }: DeclaredDeps,
  { userId, threadId, inlineToolkits: brought }: Scope,
  declared: readonly string[] = [],
): Promise<Map<string, Declared>> {
  if (declared.length === 0) return new Map()
  const patterns = declared.map(compileRef)
  const { tools } = await loadouts.resolve({ userId, threadId })
  const carried = tools.flatMap((entry): Declared[] =>
    isBuiltIn(entry) || brought?.has(entry.toolkit)
      ? []
      : [{ ...named(entry), address: entry.uscoId ?? entry.toolkit }],
  )
  const along = await broughtTools(catalog, { userId, inlineToolkits: brought })
  const all = [...along, ...carried].filter(({ toolkit, tool }) => patterns.some((one) => one.matches(toolkit, tool)))
  return new Map(all.map((one) => [one.ref, one]))
}

const named = ({ ref, toolkit, tool }: Named): Named => ({ ref, toolkit, tool })

async function broughtTools(
  catalog: DeclaredDeps['catalog'],
  { userId, inlineToolkits: brought }: Pick<Scope, 'userId' | 'inlineToolkits'>,
): Promise<Declared[]> {
  if (!brought) return []
  const known = await catalog.tools(userId, [...brought.values()])
  return [...brought].flatMap(([id, { uscoId }]) =>
    (known.get(uscoId) ?? []).map(({ manifest: { name: tool } }) => ({
      ref: `${id}.${tool}`,
      toolkit: id,
      tool,
      address: id,
    })),
  )
}

/** Object, name, and the ref that it means; only what the text can mean. */
export function declaredNames(declared: ReadonlyMap<string, Declared>, code: string): Map<string, Map<string, string>> {
  const objects = new Map<string, Map<string, string>>()
  for (const [ref, { object, name, aliases }] of codeNames(declared.values(), { reserved: CUSTOM_GLOBALS })) {
    if (!code.includes(object)) continue
    const names = objects.get(object) ?? new Map<string, string>()
    for (const one of [name, ...aliases]) names.set(one, ref)
    objects.set(object, names)
  }
  return objects
}
