/** BM25 as it is in the books (k1 1.5, b 0.75), over all texts as one and words as they stand: what providers say they use. */
import type { BenchTool } from './sets.ts'

const K1 = 1.5
const B = 0.75

export function plainBm25(
  tools: readonly BenchTool[],
  withServer: boolean,
): (query: string, limit: number) => string[] {
  const documents = tools.map((tool) => wordsOf(textOf(tool, withServer)))
  const average = documents.reduce((sum, words) => sum + words.length, 0) / documents.length
  const postings = new Map<string, Map<number, number>>()
  documents.forEach((words, index) => {
    for (const word of words) {
      const found = postings.get(word) ?? new Map<number, number>()
      postings.set(word, found.set(index, (found.get(index) ?? 0) + 1))
    }
  })
  return (query, limit) => {
    const scores = new Float64Array(tools.length)
    for (const word of new Set(wordsOf(query))) {
      const found = postings.get(word)
      if (!found) continue
      const rarity = Math.log(1 + (tools.length - found.size + 0.5) / (found.size + 0.5))
      for (const [index, times] of found) {
        const length = (documents[index] as string[]).length / average
        scores[index] = (scores[index] as number) + (rarity * times * (K1 + 1)) / (times + K1 * (1 - B + B * length))
      }
    }
    const matched = [...scores.keys()].filter((index) => (scores[index] as number) > 0)
    matched.sort((a, b) => (scores[b] as number) - (scores[a] as number))
    return matched.slice(0, limit).map((index) => (tools[index] as BenchTool).id)
  }
}

const wordsOf = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []

function textOf(
  { server, name, description = '', inputSchema, examples = [] }: BenchTool,
  withServer: boolean,
): string {
  const { names, descriptions } = argumentsOf(inputSchema)
  return [withServer ? server : '', name, description, names, descriptions, ...examples].join(' ')
}

/** Names and descriptions of the arguments, of the first level: as these engines are given them. */
export function argumentsOf(schema: Record<string, unknown> | undefined): { names: string; descriptions: string } {
  const properties = Object.entries((schema?.properties ?? {}) as Record<string, { description?: unknown }>)
  return {
    names: properties.map(([name]) => name).join(' '),
    descriptions: properties.map(([, one]) => (typeof one?.description === 'string' ? one.description : '')).join(' '),
  }
}
