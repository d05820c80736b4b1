/** Loads the bundled word vectors in Node. */
import { readFile } from 'node:fs/promises'

const FILE = new URL('./tool-vectors-48.bin', import.meta.url)

/** Default vectors of a host and of `search`: 1.9 MB. */
export const wordVectors = (): Promise<Uint8Array> => readFile(FILE)
