/** Embedders, and vectors in storage form: bytes, of which only the direction counts. */
import { HostError } from '../../errors.ts'

/** A model or service that embeds texts. `aiEmbedder()` of `@loadout/core/ai/embedder` wraps a model of the AI SDK. */
export interface Embedder {
  /** Vectors are stored under this name; another name is another embedder. */
  name: string
  dimensions?: number | undefined
  /** One vector per text, in order. */
  embed(texts: string[], options: { signal: AbortSignal }): Promise<ReadonlyArray<ArrayLike<number>>>
}

/** An embedding function. It has no stable name, so its vectors are not stored. */
export type EmbedTexts = (
  texts: string[],
  options: { signal: AbortSignal },
) => Promise<ReadonlyArray<ArrayLike<number>>> | ReadonlyArray<ArrayLike<number>>

/** Normalizes an embedder, and returns whether its vectors may be stored. */
export function readEmbedder(source: Embedder | EmbedTexts): { embedder: Embedder; isNamed: boolean } {
  if (typeof source !== 'function') return { embedder: source, isNamed: true }
  const embed: Embedder['embed'] = async (texts, options) => source(texts, options)
  return { embedder: { name: source.name || 'a function', embed }, isNamed: false }
}

/** A direction: each byte is relative to the largest value. */
export interface Vector {
  bytes: Int8Array
  /** Length of the byte vector. */
  length: number
}

const MAX_DIMENSIONS = 16_384
const MAX_BYTE = 127

/** Validates the vectors of some texts. Throws when they do not match. */
export function readVectors(
  { name, dimensions }: Pick<Embedder, 'name' | 'dimensions'>,
  vectors: ReadonlyArray<ArrayLike<number>>,
  count: number,
): Vector[] {
  if (!Array.isArray(vectors) || vectors.length !== count)
    throw wrong(name, `gave ${Array.isArray(vectors) ? vectors.length : 'no'} vectors for ${count} texts`)
  const size = dimensions ?? vectors[0]?.length ?? 0
  return vectors.map((values) => {
    if (typeof values?.length !== 'number' || values.length !== size || size < 1 || size > MAX_DIMENSIONS)
      throw wrong(name, `gave a vector of ${values?.length} dimensions where ${size} were expected`)
    return vectorOf(values) ?? fail(wrong(name, 'gave a vector with a value that is no finite number'))
  })
}

const fail = (error: HostError): never => {
  throw error
}

/** Undefined when a value is not finite. */
export function vectorOf(values: ArrayLike<number>): Vector | undefined {
  let largest = 0
  for (let at = 0; at < values.length; at++) {
    const value = values[at] as number
    if (typeof value !== 'number' || !Number.isFinite(value)) return undefined
    largest = Math.max(largest, Math.abs(value))
  }
  const scale = largest > 0 ? MAX_BYTE / largest : 0
  return ofBytes(Int8Array.from(values, (value) => Math.round(value * scale)))
}

function ofBytes(bytes: Int8Array): Vector {
  let sum = 0
  for (let at = 0; at < bytes.length; at++) sum += (bytes[at] as number) ** 2
  return { bytes, length: Math.sqrt(sum) }
}

/** Cosine similarity from -1 to 1; 0 when one vector is empty. */
export function likeness(a: Vector, b: Vector): number {
  if (a.length === 0 || b.length === 0 || a.bytes.length !== b.bytes.length) return 0
  const first = a.bytes
  const second = b.bytes
  let sum = 0
  // Integer arithmetic is a sixth faster, and the largest sum fits.
  for (let at = 0; at < first.length; at++) sum = (sum + (first[at] as number) * (second[at] as number)) | 0
  return sum / (a.length * b.length)
}

export function toText({ bytes }: Vector): string {
  let binary = ''
  for (const byte of new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)) binary += String.fromCharCode(byte)
  return btoa(binary)
}

/** Undefined when the text is no stored vector. */
export function fromText(text: string): Vector | undefined {
  try {
    return ofBytes(Int8Array.from(atob(text), (character) => (character.charCodeAt(0) << 24) >> 24))
  } catch {
    return undefined
  }
}

const wrong = (name: string, problem: string) =>
  new HostError('invalid-input', {
    detail: `The embedder "${name.slice(0, 100)}" ${problem}.`,
    action: 'Check the embedder; searches go by words meanwhile.',
  })
