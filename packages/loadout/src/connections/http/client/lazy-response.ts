/**
 * A `Response` that reads text and JSON from the socket's buffers and creates a `ReadableStream` only if `body` is
 * used. `instanceof Response` holds, and a body can be read once.
 */
import type { ResponseBody } from './response-body.ts'

export interface ResponseHead {
  status: number
  statusText: string
  /** Final URL after redirects. */
  url: string
  /** Names and values alternate. */
  rawHeaders: readonly string[]
}

type Bytes = Uint8Array<ArrayBuffer>

export class LeanResponse implements Response {
  // Skips the expensive constructor of `Response` and only shares its prototype.
  static {
    Object.setPrototypeOf(LeanResponse.prototype, Response.prototype)
  }

  readonly status: number
  readonly statusText: string
  readonly url: string
  readonly type = 'default'
  redirected = false
  readonly #rawHeaders: readonly string[]
  #headers: Headers | undefined
  #source: ResponseBody | null
  #stream: ReadableStream<Bytes> | null
  #used = false

  constructor(head: ResponseHead, body: ResponseBody | ReadableStream<Bytes> | null) {
    this.#rawHeaders = head.rawHeaders
    this.status = head.status
    this.statusText = head.statusText
    this.url = head.url
    const isStream = body instanceof ReadableStream
    this.#source = isStream ? null : body
    this.#stream = isStream ? body : null
  }

  /** Created on first use; the fast path never needs it. */
  get headers(): Headers {
    this.#headers ??= readHeaders(this.#rawHeaders)
    return this.#headers
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300
  }

  get body(): ReadableStream<Bytes> | null {
    if (!this.#stream && this.#source) {
      this.#stream = this.#source.stream(() => {
        this.#used = true
      })
      // A body that was read as text must appear as a locked stream.
      if (this.#used) this.#stream.getReader()
    }
    return this.#stream
  }

  get bodyUsed(): boolean {
    return this.#used
  }

  async text(): Promise<string> {
    const bytes = await this.#bytes()
    const hasBom = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
    return bytes.toString('utf8', hasBom ? 3 : 0)
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text())
  }

  async bytes(): Promise<Bytes> {
    return new Uint8Array(await this.#bytes())
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return (await this.bytes()).buffer
  }

  async blob(): Promise<Blob> {
    return new Blob([await this.bytes()], { type: this.headers.get('content-type') ?? '' })
  }

  async formData(): Promise<FormData> {
    return new Response(await this.bytes(), { headers: this.headers }).formData()
  }

  clone(): LeanResponse {
    if (this.#used || this.#stream?.locked) throw new TypeError('The body has already been read.')
    const [mine, theirs] = this.body?.tee() ?? [null, null]
    this.#source = null
    this.#stream = mine
    const rawHeaders = [...this.headers].flat()
    const copy = new LeanResponse(
      { status: this.status, statusText: this.statusText, url: this.url, rawHeaders },
      theirs,
    )
    copy.redirected = this.redirected
    return copy
  }

  async #bytes(): Promise<Buffer> {
    if (this.#used || this.#stream?.locked) throw new TypeError('The body has already been read.')
    if (this.#source) {
      this.#used = true
      return this.#source.all()
    }
    if (!this.#stream) return Buffer.alloc(0)
    this.#used = true
    return Buffer.from(await new Response(this.#stream).arrayBuffer())
  }
}

function readHeaders(raw: readonly string[]): Headers {
  const headers = new Headers()
  for (let index = 0; index < raw.length; index += 2) headers.append(raw[index] ?? '', raw[index + 1] ?? '')
  return headers
}
