/** The word vectors that come with the library, for Node. */
import { readFile } from 'node:fs/promises'

const FILE = new URL('./vectors/tool-vectors-48.bin', import.meta.url)

/** For `createHost({ search: { vectors: wordVectors } })`: 1.9 MB, read when something is first searched. */
export const wordVectors = (): Promise<Uint8Array> => readFile(FILE)
