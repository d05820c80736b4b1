/** Wraps an embedding model of the AI SDK as an embedder: `createHost({ search: { embedder: aiEmbedder(model) } })`. */
import { type EmbeddingModel, embedMany } from 'ai'
import type { Embedder } from '../search/vectors/embedder.ts'

export type { Embedder }

export interface AIEmbedderOptions {
  /** Storage name of its vectors. @default the provider and the model */
  name?: string
  /** Requested from the model and validated. */
  dimensions?: number
}

export function aiEmbedder(model: EmbeddingModel, { name, dimensions }: AIEmbedderOptions = {}): Embedder {
  const modelName = typeof model === 'string' ? model : `${model.provider}:${model.modelId}`
  return {
    name: name ?? (dimensions === undefined ? modelName : `${modelName}:${dimensions}`),
    dimensions,
    async embed(values, { signal }) {
      const request = { model, values, abortSignal: signal, maxParallelCalls: 2 }
      const { embeddings } = await embedMany({ ...request, ...(dimensions === undefined ? {} : { dimensions }) })
      return embeddings
    },
  }
}
