import type { Toolkit } from '../../../../lib/api.ts'

type Tool = Toolkit['tools'][number]

/** Tools that contain all words, by server. Without words, servers without tools are included. */
export function matching(toolkits: readonly Toolkit[], query: string): Array<{ toolkit: Toolkit; found: Tool[] }> {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  const groups = toolkits.map((toolkit) => ({
    toolkit,
    found: toolkit.tools.filter(({ name, title = '', description = '' }) => {
      const text = `${toolkit.name} ${name} ${title} ${description}`.toLowerCase()
      return words.every((word) => text.includes(word))
    }),
  }))
  return words.length === 0 ? groups : groups.filter(({ found }) => found.length > 0)
}
