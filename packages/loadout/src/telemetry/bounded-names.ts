/**
 * Bounds the number of metric tag values, because users choose toolkit IDs and servers choose tool names. After the
 * limit, new names become `other`. A user is never a tag.
 */
import { OTHER } from './conventions.ts'

export interface BoundedNames {
  toolkit(id: string): string
  /** Tags of a tool. Above a limit the tool, or both names, become `other`. */
  tool(toolkit: string, tool: string): ToolNames
  workflowVersion(id: string): string
}

export interface ToolNames {
  readonly toolkit: string
  readonly tool: string
}

export interface NameLimits {
  /** @default 100 */
  toolkits?: number
  /** @default 400 */
  tools?: number
  /** @default 100 */
  workflowVersions?: number
}

const MAX_NAME_LENGTH = 100

export function boundNames({ toolkits = 100, tools = 400, workflowVersions = 100 }: NameLimits = {}): BoundedNames {
  const toolkit = bound(toolkits)
  const namesByRef = new Map<string, ToolNames>()
  return {
    toolkit,
    tool(id, name) {
      // A toolkit ID contains no dot, so refs are unique.
      const ref = `${id}.${name}`
      const found = namesByRef.get(ref)
      if (found) return found
      const bounded = toolkit(id)
      const isFull = namesByRef.size >= tools || bounded === OTHER
      if (isFull) return { toolkit: bounded, tool: OTHER }
      const names = { toolkit: bounded, tool: name.slice(0, MAX_NAME_LENGTH) }
      namesByRef.set(ref, names)
      return names
    },
    workflowVersion: bound(workflowVersions),
  }
}

function bound(max: number): (value: string) => string {
  const values = new Set<string>()
  return (value) => {
    const short = value.slice(0, MAX_NAME_LENGTH)
    if (values.has(short)) return short
    if (values.size >= max) return OTHER
    values.add(short)
    return short
  }
}
