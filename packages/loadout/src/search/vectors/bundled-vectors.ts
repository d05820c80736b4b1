/** Meaning offline by default: the word vectors that come with the library, read when something is first searched. */
import { WordVectors } from './word-vectors.ts'

/** Bytes of word vectors; false for words alone. */
export type VectorSource = (() => Promise<Uint8Array>) | false

const bundledBytes = async (): Promise<Uint8Array> => (await import('#word-vectors')).wordVectors()

/** What a searcher is given: it asks once, and again where they could not be read. */
export function vectorsFrom(source: VectorSource = bundledBytes): (() => Promise<WordVectors>) | undefined {
  return source === false ? undefined : async () => new WordVectors(await source())
}
