/**
 * Newline-delimited JSON over process pipes. A too long line, a crash and a server that stops reading each end the
 * session with their own error instead of a timeout. stderr is always drained into a ring buffer. `pid` and `stderr`
 * mark it as a stdio transport for the SDK.
 */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { HostError } from '../../errors.ts'
import { redact } from '../../toolkits/secrets/redact.ts'
import { createRingBuffer } from '../../util/ring-buffer.ts'
import { MAX_RESPONSE_BYTES } from '../connection.ts'
import { sanitizeOutput, sanitizeText } from '../errors.ts'
import { crashReason } from './crash-reason.ts'
import type { ProcessGroup, ProcessGroups, ProcessSpec } from './process-group.ts'

const MAX_UNREAD_BYTES = 16 * 1024 * 1024
const STDERR_BYTES = 64 * 1024
const NEWLINE = 0x0a
const LINE_BYTES = 2000

export interface StdioTransportOptions {
  /** Values to redact from output. */
  secrets?: readonly string[] | undefined
  /** Longest line in bytes. @default 128 MiB */
  maxResponseBytes?: number | undefined
}

export class StdioTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: Transport['onmessage']
  /** Why the session ended, unless Loadout closed it. */
  failure: HostError | undefined
  /** Called for complete stderr lines; `onFirstMessage` for the first response. */
  onLine?: (line: string) => void
  onFirstMessage?: () => void
  /** Time of the last output, by `performance.now()`. */
  lastOutputAt: number | undefined
  readonly stderr = createRingBuffer(STDERR_BYTES)
  readonly #groups: ProcessGroups
  readonly #spec: ProcessSpec
  readonly #secrets: readonly string[]
  readonly #maxBytes: number
  #group: ProcessGroup | undefined
  #chunks: Buffer[] = []
  #size = 0
  #closed = false

  constructor(groups: ProcessGroups, spec: ProcessSpec, options: StdioTransportOptions = {}) {
    this.#groups = groups
    this.#spec = spec
    this.#secrets = options.secrets ?? []
    this.#maxBytes = options.maxResponseBytes ?? MAX_RESPONSE_BYTES
  }

  get pid(): number | null {
    return this.#group?.child.pid ?? null
  }

  async start(): Promise<void> {
    this.#group = await this.#groups.start(this.#spec)
    const { child } = this.#group
    child.stderr?.on('data', (chunk: Buffer) => this.#onStderr(chunk))
    child.stdout?.on('data', (chunk: Buffer) => this.#read(chunk))
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on('error', () => {})
    child.once('close', (code, signal) => this.#onEnd(crashed(code, signal, redact(this.stderr.text(), this.#secrets))))
  }

  send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#group?.child.stdin
    if (this.#closed || !stdin?.writable) return Promise.reject(this.failure ?? new HostError('session-lost'))
    if (stdin.writableLength > MAX_UNREAD_BYTES) {
      const stuck = new HostError('server-timeout', { detail: 'The server does not read what it is sent.' })
      void this.#fail(stuck)
      return Promise.reject(stuck)
    }
    // Not awaited: a response may arrive before the pipe is drained, and the request has its own timeout.
    stdin.write(`${JSON.stringify(message)}\n`)
    return Promise.resolve()
  }

  /** Output so far, without secrets. */
  get output(): string {
    return sanitizeOutput(redact(this.stderr.text(), this.#secrets))
  }

  /** Whether sent bytes are still in the pipe. */
  get hasUnreadInput(): boolean {
    return (this.#group?.child.stdin?.writableLength ?? 0) > 0
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#group?.end()
    this.#onEnd(undefined)
  }

  #read(chunk: Buffer): void {
    let from = 0
    for (let at = chunk.indexOf(NEWLINE); at >= 0 && !this.#closed; at = chunk.indexOf(NEWLINE, from)) {
      const end = chunk.subarray(from, at)
      if (this.#isTooLong(end.length)) return
      this.#onStdoutLine(this.#take(end))
      from = at + 1
    }
    if (this.#closed || from >= chunk.length || this.#isTooLong(chunk.length - from)) return
    this.#chunks.push(chunk.subarray(from))
    this.#size += chunk.length - from
  }

  /** Fails the session if the line exceeds `maxResponseBytes`. */
  #isTooLong(more: number): boolean {
    if (this.#size + more <= this.#maxBytes) return false
    const detail = `A line of the server is longer than ${this.#maxBytes} bytes.`
    void this.#fail(new HostError('response-too-large', { detail }))
    return true
  }

  #take(end: Buffer): string {
    if (this.#chunks.length === 0) return end.toString('utf8')
    const line = Buffer.concat([...this.#chunks, end])
    // Released before decoding, so that a long line is not in memory three times.
    this.#chunks = []
    this.#size = 0
    return line.toString('utf8')
  }

  #onStderr(chunk: Buffer): void {
    this.stderr.write(chunk)
    this.lastOutputAt = performance.now()
    if (!this.onLine) return
    // Only the last line counts, because installers redraw one line for minutes.
    const [last] = sanitizeOutput(chunk.subarray(-LINE_BYTES).toString('utf8')).split('\n').slice(-1)
    if (last !== undefined && last.trim() !== '') this.onLine(last)
  }

  #onStdoutLine(line: string): void {
    if (line === '' || line === '\r') return
    let message: unknown
    try {
      message = JSON.parse(line)
    } catch {
      // Banners on stdout violate the protocol but are common, so they count as log output.
      this.stderr.write(Buffer.from(`${sanitizeText(line)}\n`))
      return
    }
    if (typeof message !== 'object' || message === null || (message as { jsonrpc?: unknown }).jsonrpc !== '2.0') return
    this.onFirstMessage?.()
    delete this.onFirstMessage
    this.onmessage?.(message as JSONRPCMessage)
  }

  async #fail(reason: HostError): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#chunks = []
    this.failure = reason
    this.onerror?.(reason)
    const ending = this.#group?.end()
    this.#onEnd(reason)
    await ending
  }

  #onEnd(reason: HostError | undefined): void {
    this.failure ??= this.#closed ? undefined : reason
    this.#closed = true
    const notify = this.onclose
    this.onclose = () => {}
    notify?.()
  }
}

function crashed(code: number | null, signal: string | null, stderr: string): HostError {
  const ending = signal === null ? `with code ${code}` : `by ${signal}`
  const reason = sanitizeText(crashReason(stderr))
  const output = sanitizeOutput(stderr)
  return new HostError('server-crashed', {
    detail: `The server ended ${ending}.${reason === '' ? '' : ` It said: ${reason}`}`,
    ...(output === '' ? {} : { output }),
  })
}
