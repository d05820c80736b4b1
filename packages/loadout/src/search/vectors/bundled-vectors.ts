/** Default source of meaning: the bundled word vectors, loaded on first search. */
import { WordVectors } from './word-vectors.ts'

/** Bytes of word vectors; false disables semantic search. */
export type VectorSource = (() => Promise<Uint8Array>) | false

const bundledBytes = async (): Promise<Uint8Array> => (await import('#word-vectors')).wordVectors()

/** Loader for a searcher: called once, and again after a failed read. */
export function vectorsFrom(source: VectorSource = bundledBytes): (() => Promise<WordVectors>) | undefined {
  return source === false ? undefined : async () => new WordVectors(await source())
}
