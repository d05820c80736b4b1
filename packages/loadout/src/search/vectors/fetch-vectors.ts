/** Loads the bundled word vectors without Node: they are beside this file, also in bundler output. */
import { HostError } from '../../errors.ts'

export async function wordVectors(): Promise<Uint8Array> {
  const response = await fetch(new URL('./tool-vectors-48.bin', import.meta.url))
  if (!response.ok) throw new HostError('not-found', { detail: 'The word vectors are not beside the library.' })
  return new Uint8Array(await response.arrayBuffer())
}
