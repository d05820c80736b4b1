/**
 * A response body as it arrives: decoded, measured and buffered. It reads at most `MAX_BUFFERED_BYTES` ahead of its
 * reader, so a small response frees its connection at once and a large one waits in the socket. `limit` counts decoded
 * bytes of the whole body, or of one event in an event stream.
 */
import { Duplex, PassThrough, pipeline, Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib'

type Bytes = Uint8Array<ArrayBuffer>

const MAX_BUFFERED_BYTES = 64 * 1024
const MAX_CODINGS = 3
const LINE_FEED = 10
const RETURN = 13

export interface BodyWatch {
  limit: number
  /** Whether `limit` applies to each event of an event stream. */
  perEvent: boolean
  /** Maps a stream error to the error for the reader. */
  explain: (error: unknown) => unknown
  /** Creates the error for a body above the limit. */
  tooLarge: () => unknown
  /** Called once, when no more data will arrive. */
  onDone: () => void
}

/** Receives chunks as they arrive. */
export interface Sink {
  onChunk(chunk: Buffer): void
  /** Called once after the last chunk, with the error if the body broke off. */
  onEnd(error: unknown): void
}

export class ResponseBody {
  readonly #stream: Readable
  readonly #watch: BodyWatch
  readonly #meter: Meter
  #chunks: Buffer[] = []
  #bufferedBytes = 0
  #done = false
  #error: unknown
  #takesAll = false
  #sink: Sink | undefined
  #wake: (() => void) | undefined

  constructor(stream: Readable, watch: BodyWatch) {
    this.#stream = stream
    this.#watch = watch
    this.#meter = new Meter(watch.limit, watch.perEvent)
    stream.on('data', (chunk: Buffer) => this.#take(chunk))
    stream.on('end', () => this.#finish())
    stream.on('error', (error) => this.#cutOff(error))
    stream.on('close', () => this.#cutOff(undefined))
  }

  /** Reads the whole body. Rejects at the first error. */
  async all(): Promise<Buffer> {
    this.#takesAll = true
    this.#stream.resume()
    while (!this.#done) await this.#nextChunk()
    if (this.#error !== undefined) throw this.#error
    return this.#drain()
  }

  /** Streams the body into `sink`; call it before any data arrives and instead of the other readers. */
  consume(sink: Sink): void {
    this.#sink = sink
  }

  stream(onRead: () => void): ReadableStream<Bytes> {
    const bytes = this.#readable<Bytes>(
      onRead,
      (chunk) => new Uint8Array(chunk.buffer as ArrayBuffer, chunk.byteOffset, chunk.length),
    )
    const { pipeThrough } = bytes
    // Event streams are read as text, and a `TextDecoderStream` costs more than the rest of a response.
    const piped = (transform: unknown, options?: StreamPipeOptions) => {
      if (!(transform instanceof TextDecoderStream) || options || bytes.locked)
        return pipeThrough.call(bytes, transform as never, options)
      bytes.getReader()
      const decoder = new TextDecoder(transform.encoding, transform)
      return this.#readable<string>(onRead, (chunk, last) => decoder.decode(chunk, { stream: !last }))
    }
    return Object.assign(bytes, { pipeThrough: piped })
  }

  /** Discards the body, and closes the connection unless everything has arrived. */
  cancel(): void {
    this.#chunks = []
    this.#bufferedBytes = 0
    if (this.#done) return
    this.#cutOff(undefined)
    this.#stream.destroy()
  }

  /** Fails the body with `error`; buffered data is dropped. */
  abort(error: unknown): void {
    this.#chunks = []
    this.#fail(error)
    this.#stream.destroy()
  }

  #readable<T>(onRead: () => void, convert: (chunk: Buffer, last: boolean) => T): ReadableStream<T> {
    const pull = async (controller: ReadableStreamDefaultController<T>) => {
      onRead()
      while (this.#chunks.length === 0 && !this.#done) await this.#nextChunk()
      if (this.#chunks.length > 0) {
        controller.enqueue(convert(this.#drain(), false))
        if (!this.#done) this.#stream.resume()
      }
      if (!this.#done) return
      if (this.#error === undefined) controller.close()
      else controller.error(this.#error)
    }
    const cancel = () => {
      onRead()
      this.cancel()
    }
    return new ReadableStream<T>({ pull, cancel }, { highWaterMark: 0 })
  }

  #nextChunk(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  #drain(): Buffer {
    const [first] = this.#chunks
    const bytes = first && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks)
    this.#chunks = []
    this.#bufferedBytes = 0
    return bytes
  }

  #take(chunk: Buffer): void {
    if (this.#done) return
    if (this.#meter.exceeds(chunk)) {
      this.abort(this.#watch.tooLarge())
      return
    }
    if (this.#sink) {
      this.#sink.onChunk(chunk)
      return
    }
    this.#chunks.push(chunk)
    this.#bufferedBytes += chunk.length
    if (this.#takesAll) return
    if (this.#bufferedBytes > MAX_BUFFERED_BYTES) this.#stream.pause()
    this.#wake?.()
  }

  #finish(): void {
    if (this.#done) return
    this.#done = true
    this.#watch.onDone()
    this.#sink?.onEnd(this.#error)
    this.#wake?.()
  }

  #cutOff(error: unknown): void {
    if (!this.#done) this.#fail(this.#watch.explain(error))
  }

  #fail(error: unknown): void {
    if (this.#done) return
    this.#error = error
    this.#finish()
  }
}

/** Counts bytes since the start, or since the last blank line if `perEvent`. */
class Meter {
  readonly #limit: number
  readonly #perEvent: boolean
  #bytes = 0
  #emptyLine = true
  #afterReturn = false

  constructor(limit: number, perEvent: boolean) {
    this.#limit = limit
    this.#perEvent = perEvent
  }

  exceeds(chunk: Buffer): boolean {
    if (!this.#perEvent) {
      this.#bytes += chunk.length
      return this.#bytes > this.#limit
    }
    for (let index = 0; index < chunk.length; index++) if (this.#step(chunk[index] as number)) return true
    return false
  }

  #step(byte: number): boolean {
    const endsPair = byte === LINE_FEED && this.#afterReturn
    this.#afterReturn = byte === RETURN
    if (endsPair) return false
    this.#bytes++
    if (byte !== LINE_FEED && byte !== RETURN) this.#emptyLine = false
    else if (this.#emptyLine) this.#bytes = 0
    else this.#emptyLine = true
    return this.#bytes > this.#limit
  }
}

/** Undoes content codings. A stream with an unknown coding is returned unchanged, as `fetch` does. */
export function decode(stream: Readable, encoding: string | undefined): Readable {
  if (!encoding || encoding === 'identity') return stream
  const codings = encoding.split(',').map((coding) => coding.trim().toLowerCase())
  const decoders = codings.reverse().map(createDecoder)
  if (decoders.length > MAX_CODINGS || decoders.includes(undefined)) return stream
  // The last decoder reports all errors, so the callback ignores them.
  return decoders.reduce<Readable>(
    (source, decoder) => pipeline(source, decoder ?? new PassThrough(), () => {}),
    stream,
  )
}

function createDecoder(coding: string) {
  if (coding === 'gzip' || coding === 'x-gzip') return createGunzip()
  if (coding === 'br') return createBrotliDecompress()
  if (coding === 'deflate') return Duplex.from(inflated)
  return coding === 'identity' ? new PassThrough() : undefined
}

/** Some servers send raw deflate, some a zlib stream; the first byte tells them apart. */
async function* inflated(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const chunks = source[Symbol.asyncIterator]()
  const first = await chunks.next()
  if (first.done) return
  const framed = ((first.value[0] ?? 0) & 0x0f) === 8
  const whole = Readable.from(startingWith(first.value, chunks))
  yield* pipeline(whole, framed ? createInflate() : createInflateRaw(), () => {})
}

async function* startingWith(first: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield first
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
}
