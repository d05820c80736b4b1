/** The word vectors that come with the library, where there is no Node: they lie beside this file, also in what a bundler made. */
import { HostError } from '../../errors.ts'

export async function wordVectors(): Promise<Uint8Array> {
  const response = await fetch(new URL('./tool-vectors-48.bin', import.meta.url))
  if (!response.ok) throw new HostError('not-found', { detail: 'The word vectors are not beside the library.' })
  return new Uint8Array(await response.arrayBuffer())
}
