import type { Toolkit } from '../../../../lib/api.ts'

type Tool = Toolkit['tools'][number]

/** Tools that have all the words, by their servers; with no words all servers, also those without tools. */
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
