/** The word vectors that come with the library, for Node. */
import { readFile } from 'node:fs/promises'

const FILE = new URL('./tool-vectors-48.bin', import.meta.url)

/** What a host and `search` use where nothing else is said: 1.9 MB. */
export const wordVectors = (): Promise<Uint8Array> => readFile(FILE)
