/** Lists what a workflow requires: tools by ref, and toolkits or globs for agents and programs. */
import { compileGlob, isGlob } from '../../schema/glob.ts'
import { parseToolRef } from '../../schema/toolkit/tool.ts'
import type { Plan, PlannedNode } from '../definition/plan.ts'

export interface Need {
  /** `filesystem.read_file`, `github`, `github.list_*`. */
  ref: string
  toolkit: string
  /** The tool; undefined for a whole toolkit or a glob. */
  tool: string | undefined
  planned: PlannedNode
  /** Path in the definition. */
  path: string
  caller: 'workflow' | 'code' | 'direct'
}

export function needsOf({ nodes }: Pick<Plan, 'nodes'>): Need[] {
  return [...nodes.values()].flatMap((planned) => {
    const { node, index } = planned
    if (node.type === 'tool') return [needOf(node.ref, { planned, path: `nodes.${index}.ref`, caller: 'workflow' })]
    if (node.type !== 'agent' && node.type !== 'code') return []
    const caller = node.type === 'code' ? ('code' as const) : ('direct' as const)
    return node.tools.map((ref, at) => needOf(ref, { planned, path: `nodes.${index}.tools.${at}`, caller }))
  })
}

function needOf(ref: string, about: Pick<Need, 'planned' | 'path' | 'caller'>): Need {
  const dot = ref.indexOf('.')
  const toolkit = dot < 0 ? ref : ref.slice(0, dot)
  const parsed = isGlob(ref) && about.caller !== 'workflow' ? undefined : parseToolRef(ref)
  return { ref, toolkit: parsed?.toolkit ?? toolkit, tool: parsed?.tool, ...about }
}

/** Required toolkits in the order in which nodes name them; globs expand to available ones. */
export function toolkitsOf(needs: readonly Need[], available: readonly string[]): string[] {
  const names = needs.flatMap(({ toolkit }) => {
    const glob = compileGlob(toolkit)
    return glob.literal ? [toolkit] : available.filter((id) => glob.matches(id))
  })
  return [...new Set(names)]
}
