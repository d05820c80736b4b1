/**
 * Names as tags. Users choose the ids of toolkits and servers the names of tools, so their number has no end; a metric's
 * has one. The first so many stand for themselves, all later ones are `other`. A user is never a tag.
 */
import { OTHER } from './conventions.ts'

export interface BoundedNames {
  toolkit(id: string): string
  /** The names of one tool: both are themselves, or the tool is one of the others, or both are. */
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
      // The id of a toolkit has no dot in it, so that no two tools meet here.
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
