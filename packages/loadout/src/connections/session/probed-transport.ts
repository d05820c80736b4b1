/**
 * Process pipes with era negotiation, so that one process is enough for both eras. It sends `server/discover` first and
 * `initialize` after `probeMs` without an answer; the first decisive answer wins. A slow server answers both late and
 * in order, so late answers count.
 */
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type DiscoverResult,
  isSpecType,
  type JSONRPCMessage,
  LATEST_PROTOCOL_VERSION,
  PROTOCOL_VERSION_META_KEY,
  ProtocolError,
  type Transport,
} from '@modelcontextprotocol/client'
import { HostError } from '../../errors.ts'
import type { JsonObject } from '../../schema/json.ts'
import type { EraVerdict } from '../connection.ts'
import type { StdioTransport } from '../stdio/stdio-transport.ts'
import { otherEraOnly } from './eras.ts'
import { MODERN_VERSION } from './session.ts'

const MODERN = MODERN_VERSION
const METHOD_NOT_FOUND = -32_601
const VERSION_NOT_SPOKEN = -32_022
const MAX_EARLY = 256

export interface ClientIdentity {
  info: { name: string; version: string }
  capabilities: JsonObject
}

export interface ProbeOptions {
  client: ClientIdentity
  /** Era of an earlier connection: legacy is tried first, modern is used without a probe. */
  verdict: EraVerdict | undefined
  /** The only era to use, whatever the server offers. */
  only?: EraVerdict['era'] | undefined
  /** Milliseconds until `initialize` is sent in addition to an unanswered `server/discover`. */
  probeMs: number
}

type Reply = { result: JsonObject } | { error: { code: number; message: string; data?: unknown } }

export class ProbedTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: Transport['onmessage']
  /** Called when a modern server sends a request, which its protocol does not allow. */
  onServerRequest?: (method: string) => void
  readonly stderr: StdioTransport['stderr']
  readonly #inner: StdioTransport
  readonly #pending = new Map<string, (answer: Reply) => void>()
  readonly #early: JSONRPCMessage[] = []
  #starting: Promise<void> | undefined
  #handedOver = false
  #isModern = false
  #modern: EraVerdict | undefined
  #initialized: Reply | undefined
  #onEnd: (() => void) | undefined
  #requestCount = 0

  constructor(inner: StdioTransport) {
    this.#inner = inner
    this.stderr = inner.stderr
    inner.onmessage = (message) => this.#onMessage(message)
    inner.onerror = (error) => this.onerror?.(error)
    inner.onclose = () => {
      this.#onEnd?.()
      this.onclose?.()
    }
  }

  get pid(): number | null {
    return this.#inner.pid
  }

  /** The SDK starts its transport once it listens; it gets all messages from then on. */
  async start(): Promise<void> {
    await this.#startProcess()
    this.#handedOver = true
    for (const message of this.#early.splice(0)) this.onmessage?.(message)
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const reply = this.#initialized
    if (reply === undefined || !isRequest(message) || message.method !== 'initialize') return this.#inner.send(message)
    // The process has already answered `initialize`.
    this.#initialized = undefined
    queueMicrotask(() => this.onmessage?.({ ...reply, id: message.id } as unknown as JSONRPCMessage))
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  /** Starts the process and negotiates the era. Rejects if the process ends first or refuses both eras. */
  async negotiate(options: ProbeOptions): Promise<EraVerdict> {
    const ended = new Promise<never>((_, reject) => {
      this.#onEnd = () => reject(this.#inner.failure ?? new HostError('session-lost'))
    })
    ended.catch(() => {})
    await this.#startProcess()
    const verdict = await Promise.race([this.#probe(options), ended])
    this.#onEnd = undefined
    this.#pending.clear()
    this.#isModern = verdict.era === 'modern'
    return verdict
  }

  async #probe(options: ProbeOptions): Promise<EraVerdict> {
    const { verdict, only } = options
    if (only === 'legacy') return this.#initialize(options).catch((error) => Promise.reject(otherEraOnly(error, only)))
    if (verdict?.era === 'modern') return verdict
    if (only === 'modern') return this.#discover(options).catch((error) => Promise.reject(otherEraOnly(error, only)))
    if (verdict?.era === 'legacy')
      return this.#initialize(options).catch((error) => this.#discoverInstead(error, options))
    return this.#probeBoth(options)
  }

  /** The first decisive answer wins. After one refusal the other request still counts. */
  async #probeBoth(options: ProbeOptions): Promise<EraVerdict> {
    const modern = this.#discover(options)
    modern.catch(() => {})
    const early = await Promise.race([modern.catch(() => 'refused' as const), wait(options.probeMs)])
    if (typeof early === 'object') return early
    const legacy = this.#initialize(options)
    if (early === 'refused') return legacy
    const legacyOrModern = legacy.catch((error) => this.#discoverInstead(error, options))
    return Promise.any([modern, legacyOrModern]).catch((failures: AggregateError) => {
      throw failures.errors[1]
    })
  }

  /** A server that rejects `initialize` because of its version uses the modern era. */
  async #discoverInstead(refusal: unknown, options: ProbeOptions): Promise<EraVerdict> {
    if (!(refusal instanceof ProtocolError && refusal.code === VERSION_NOT_SPOKEN)) throw refusal
    return this.#modern ?? this.#discover(options)
  }

  async #discover({ client }: ProbeOptions): Promise<EraVerdict> {
    const reply = await this.#request('server/discover', {
      _meta: {
        [PROTOCOL_VERSION_META_KEY]: MODERN,
        [CLIENT_INFO_META_KEY]: client.info,
        [CLIENT_CAPABILITIES_META_KEY]: client.capabilities,
      },
    })
    if ('error' in reply) throw toProtocolError(reply)
    const { result } = reply
    const isDiscovered: (value: unknown) => boolean = isSpecType.DiscoverResult
    if (!isDiscovered(result) || !(result as unknown as DiscoverResult).supportedVersions.includes(MODERN))
      throw new ProtocolError(METHOD_NOT_FOUND, `The server does not speak ${MODERN}.`)
    this.#modern = { era: 'modern', discover: result as JsonObject }
    return this.#modern
  }

  async #initialize({ client }: ProbeOptions): Promise<EraVerdict> {
    const params = {
      protocolVersion: LATEST_PROTOCOL_VERSION,
      capabilities: client.capabilities,
      clientInfo: client.info,
    }
    const reply = await this.#request('initialize', params)
    if ('error' in reply) throw toProtocolError(reply)
    this.#initialized = reply
    return { era: 'legacy' }
  }

  async #request(method: string, params: JsonObject): Promise<Reply> {
    const id = `era-${++this.#requestCount}`
    const reply = new Promise<Reply>((resolve) => this.#pending.set(id, resolve))
    // Uses `this.send`, so that `injectMeta` applies.
    await this.send({ jsonrpc: '2.0', id, method, params } as JSONRPCMessage)
    return reply
  }

  #startProcess(): Promise<void> {
    this.#starting ??= this.#inner.start()
    return this.#starting
  }

  #onMessage(message: JSONRPCMessage): void {
    if (isRequest(message)) this.#onRequest(message)
    else if (!('method' in message) && typeof message.id === 'string' && message.id.startsWith('era-')) {
      this.#pending.get(message.id)?.(message as unknown as Reply)
      this.#pending.delete(message.id)
    } else this.#deliver(message)
  }

  /**
   * The SDK drops requests of modern servers, so they are answered with an error here; otherwise the server would wait
   * forever.
   */
  #onRequest(message: JSONRPCMessage & { id: string | number; method: string }): void {
    const { id, method } = message
    const sendReply = (reply: Reply) => this.#inner.send({ jsonrpc: '2.0', id, ...reply } as JSONRPCMessage)
    if (method === 'ping' && (this.#isModern || !this.#handedOver)) sendReply({ result: {} }).catch(() => {})
    else if (!this.#isModern) this.#deliver(message)
    else {
      this.onServerRequest?.(method)
      const text = `A client of ${MODERN} takes no "${method}" request. Answer with input_required instead.`
      sendReply({ error: { code: METHOD_NOT_FOUND, message: text } }).catch(() => {})
    }
  }

  #deliver(message: JSONRPCMessage): void {
    if (this.#handedOver) this.onmessage?.(message)
    else if (this.#early.length < MAX_EARLY) this.#early.push(message)
  }
}

const toProtocolError = ({ error }: { error: { code: number; message: string; data?: unknown } }) =>
  new ProtocolError(error.code, error.message, error.data)

const isRequest = (message: JSONRPCMessage): message is JSONRPCMessage & { id: string | number; method: string } =>
  'method' in message && 'id' in message

const wait = (ms: number) => new Promise<'late'>((resolve) => setTimeout(resolve, ms, 'late' as const).unref())
