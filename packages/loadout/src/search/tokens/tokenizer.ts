/**
 * Counts tokens. OpenAI publishes its vocabularies; for other providers the same one is an approximation, and its name
 * says so. Long runs are split, because counting takes quadratic time in their length.
 */
import type { LoadoutEntry } from '../../schema/toolkit/loadout-entry.ts'

export interface Tokenizer {
  /** Reported with every count. */
  name: string
  count(text: string): number
}

/** Longer texts are split; each split costs about one token. */
const MAX_PIECE_LENGTH = 2000

/** Tokenizer of a model's family: `openai:gpt-5`, `anthropic:claude-…`, or the family alone. */
export async function tokenizerOf(model?: string): Promise<Tokenizer> {
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base')
  // Definitions are plain text, so special tokens are not interpreted.
  const plain = { disallowedSpecial: new Set<string>() }
  const family = model?.split(':')[0]?.toLowerCase()
  const isExact = family === undefined || family === 'openai' || family === 'openai-compatible'
  return {
    name: isExact ? 'o200k_base' : `o200k_base, standing in for ${family.slice(0, 40)}`,
    count: (text) => pieces(text).reduce((sum, piece) => sum + countTokens(piece, plain), 0),
  }
}

function pieces(text: string): string[] {
  if (text.length <= MAX_PIECE_LENGTH) return [text]
  const result: string[] = []
  for (let at = 0; at < text.length; ) {
    let end = Math.min(at + MAX_PIECE_LENGTH, text.length)
    const space = text.lastIndexOf(' ', end)
    // The space belongs to the next word, as in the vocabulary.
    if (end < text.length && space > at + MAX_PIECE_LENGTH / 2) end = space
    result.push(text.slice(at, end))
    at = end
  }
  return result
}

/** Tool definition as it is sent. */
export function definitionOf({ modelName, manifest }: Pick<LoadoutEntry, 'modelName' | 'manifest'>) {
  const { description = '', inputSchema } = manifest
  return { name: modelName, description, input_schema: inputSchema }
}

/** Counts definitions and caches counts per manifest. */
export class DefinitionCounter {
  readonly tokenizer: Tokenizer
  readonly #counts: WeakMap<object, { name: string; tokens: number }>

  constructor(tokenizer: Tokenizer, counts = new WeakMap<object, { name: string; tokens: number }>()) {
    this.tokenizer = tokenizer
    this.#counts = counts
  }

  get name(): string {
    return this.tokenizer.name
  }

  count(entry: Pick<LoadoutEntry, 'modelName' | 'manifest'>): number {
    const cached = this.#counts.get(entry.manifest)
    if (cached?.name === entry.modelName) return cached.tokens
    const tokens = this.tokenizer.count(JSON.stringify(definitionOf(entry)))
    this.#counts.set(entry.manifest, { name: entry.modelName, tokens })
    return tokens
  }

  /** Sums all counts. After `ms`, the rest is extrapolated from the estimates of the entries. */
  sum(entries: readonly LoadoutEntry[], ms: number): { tokens: number; exact: boolean } {
    const until = performance.now() + ms
    let tokens = 0
    let estimated = 0
    for (const [index, entry] of entries.entries()) {
      if (index % 32 === 31 && performance.now() > until && !this.#counts.has(entry.manifest)) {
        const rest = entries.slice(index).reduce((sum, other) => sum + other.tokens, 0)
        return { tokens: Math.round(tokens + rest * (estimated === 0 ? 1 : tokens / estimated)), exact: false }
      }
      tokens += this.count(entry)
      estimated += entry.tokens
    }
    return { tokens, exact: true }
  }
}
