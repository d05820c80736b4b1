/** Filters the tools of a server by text and kind. */
import type { Toolkit } from '../../../lib/api.ts'

type Tool = Toolkit['tools'][number]

export const TOOL_FILTERS = {
  all: { label: 'All tools', fits: () => true },
  on: { label: 'On', fits: ({ enabled }: Tool) => enabled },
  off: { label: 'Off', fits: ({ enabled }: Tool) => !enabled },
  review: { label: 'To review', fits: ({ changed, held }: Tool) => changed !== undefined || held !== undefined },
  'read-only': { label: 'Read-only', fits: ({ annotations }: Tool) => annotations?.readOnlyHint === true },
  writes: { label: 'Not read-only', fits: ({ annotations }: Tool) => annotations?.readOnlyHint !== true },
  destructive: { label: 'Destructive', fits: ({ annotations }: Tool) => annotations?.destructiveHint === true },
} as const satisfies Record<string, { label: string; fits: (tool: Tool) => boolean }>
export type ToolFilter = keyof typeof TOOL_FILTERS

export function filterTools(tools: Toolkit['tools'], q: string, filter: ToolFilter): Toolkit['tools'] {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean)
  const found = tools.filter((tool) => {
    const text = `${tool.name} ${tool.title ?? ''} ${tool.description ?? ''}`.toLowerCase()
    return TOOL_FILTERS[filter].fits(tool) && words.every((word) => text.includes(word))
  })
  // Tools to review come first.
  const waits = ({ changed, held }: Tool) => Number(changed !== undefined || held !== undefined)
  return found.toSorted((a, b) => waits(b) - waits(a))
}
