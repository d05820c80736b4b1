/** Flattens toolkits and their tools into rows of one list. */
import type { Toolkit } from '../../lib/api.ts'

export type Tool = Toolkit['tools'][number]

export type ToolRow =
  | { kind: 'toolkit'; key: string; toolkit: Toolkit; count: number; isOpen: boolean }
  | { kind: 'tool'; key: string; toolkit: Toolkit; tool: Tool }

export function toolRows(toolkits: readonly Toolkit[], closed: ReadonlySet<string>): ToolRow[] {
  return toolkits.flatMap((toolkit): ToolRow[] => {
    const isOpen = !closed.has(toolkit.uscoId)
    const head: ToolRow = { kind: 'toolkit', key: toolkit.uscoId, toolkit, count: toolkit.tools.length, isOpen }
    if (!isOpen) return [head]
    return [head, ...toolkit.tools.map((tool): ToolRow => ({ kind: 'tool', key: tool.ref, toolkit, tool }))]
  })
}

export interface LocatedTool {
  toolkit: Toolkit
  tool: Tool
}

export function locate(toolkits: readonly Toolkit[] | undefined, ref: string | undefined): LocatedTool | undefined {
  if (ref === undefined) return undefined
  for (const toolkit of toolkits ?? []) {
    const tool = toolkit.tools.find((item) => item.ref === ref)
    if (tool) return { toolkit, tool }
  }
  return undefined
}
