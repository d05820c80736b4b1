/** An embedding model of the AI SDK as the embedder of a host: `createHost({ search: { embedder: aiEmbedder(model) } })`. */
import { type EmbeddingModel, embedMany } from 'ai'
import type { Embedder } from '../search/vectors/embedder.ts'

export type { Embedder }

export interface AIEmbedderOptions {
  /** Vectors are kept by it. @default the provider and the model */
  name?: string
  /** Asked of the model, and held against what it gives. */
  dimensions?: number
}

export function aiEmbedder(model: EmbeddingModel, { name, dimensions }: AIEmbedderOptions = {}): Embedder {
  const own = typeof model === 'string' ? model : `${model.provider}:${model.modelId}`
  return {
    name: name ?? (dimensions === undefined ? own : `${own}:${dimensions}`),
    dimensions,
    async embed(values, { signal }) {
      const asked = { model, values, abortSignal: signal, maxParallelCalls: 2 }
      const { embeddings } = await embedMany({ ...asked, ...(dimensions === undefined ? {} : { dimensions }) })
      return embeddings
    },
  }
}
