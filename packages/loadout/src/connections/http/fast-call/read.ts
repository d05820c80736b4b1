/**
 * The answer to one request on the short way, read as the SDK's transport reads its own: JSON must be messages, an event
 * that is none is passed over, and a stream that ends without an answer is told at once, unless it can be resumed. That,
 * and every answer of another kind, is taken over by whoever knows how.
 */
import {
  type JSONRPCMessage,
  type JSONRPCRequest,
  parseJSONRPCMessage,
  type TransportSendOptions,
} from '@modelcontextprotocol/client'
import type { ResponseReader, StreamEnd } from './contract.ts'

export interface DirectCall {
  request: JSONRPCRequest
  options: TransportSendOptions | undefined
}

/** Where answers go. */
export interface Receiver {
  deliver(message: JSONRPCMessage): void
  /** An event that is no message, or that nobody could take. */
  pass(error: Error): void
  /** The stream is over without an answer, and nobody will go on with it. */
  end(call: DirectCall): void
  /** There is no answer that could be read. */
  fail(call: DirectCall, error: Error): void
  /** Goes on with this answer. */
  takeOver(call: DirectCall, response: Response): Promise<void>
  /** Nothing more will arrive for it. */
  forget(call: DirectCall): void
}

interface Settle {
  resolve(): void
  reject(error: unknown): void
}

export class FastCallReader implements ResponseReader {
  /** Given up by us: whatever still happens is nobody's any more. */
  isStopped = false
  #hasResponse = false
  /** Events that wait for their turn. */
  #queue: string[] | undefined
  #end: StreamEnd | undefined
  readonly #call: DirectCall
  readonly #receiver: Receiver
  readonly #settle: Settle

  constructor(call: DirectCall, receiver: Receiver, settle: Settle) {
    this.#call = call
    this.#receiver = receiver
    this.#settle = settle
  }

  onJson(text: string): void {
    try {
      const data: unknown = JSON.parse(text)
      for (const message of Array.isArray(data) ? data.map(readMessage) : [readMessage(data)])
        this.#receiver.deliver(message)
      this.#settle.resolve()
    } catch (error) {
      this.onFailure(error)
    }
  }

  onEvent(data: string): void {
    if (this.#queue) {
      this.#queue.push(data)
      return
    }
    this.#take(data)
    if (!this.#hasResponse) void this.#drainInOrder()
  }

  onStreamEnd(stream: StreamEnd): void {
    if (this.#queue) this.#end = stream
    else this.#finish(stream)
  }

  #take(data: string): void {
    if (this.isStopped) return
    try {
      const message = readMessage(JSON.parse(data))
      if (!('method' in message)) this.#hasResponse = true
      this.#receiver.deliver(message)
    } catch (error) {
      this.#receiver.pass(error as Error)
    }
  }

  /** The SDK hears notifications a moment after they are delivered: an answer right behind must not overtake them. */
  async #drainInOrder(): Promise<void> {
    const queue: string[] = []
    this.#queue = queue
    await undefined
    for (const data of queue) {
      this.#take(data)
      await undefined
    }
    this.#queue = undefined
    if (this.#end) this.#finish(this.#end)
  }

  #finish({ lastEventId, retryMs }: StreamEnd): void {
    this.#settle.resolve()
    if (this.isStopped) return
    const resumeAt = this.#hasResponse ? undefined : lastEventId
    if (resumeAt !== undefined || retryMs !== undefined)
      this.#receiver.takeOver(this.#call, resumeResponse({ lastEventId: resumeAt, retryMs })).catch(() => {})
    else if (!this.#hasResponse) this.#receiver.end(this.#call)
  }

  onOther(response: Response): void {
    this.#receiver.takeOver(this.#call, response).then(this.#settle.resolve, this.#settle.reject)
  }

  onFailure(error: unknown): void {
    if (!this.isStopped) this.#receiver.fail(this.#call, error as Error)
    this.#settle.reject(error)
  }

  onDone(): void {
    this.#receiver.forget(this.#call)
  }
}

/** A stream that says again what another said about being resumed, and ends there. */
function resumeResponse({ lastEventId, retryMs }: StreamEnd): Response {
  const retry = retryMs === undefined ? '' : `retry: ${retryMs}\n`
  const id = lastEventId === undefined ? '' : `id: ${lastEventId}\ndata:\n`
  return new Response(`${retry}${id}\n`, { headers: { 'content-type': 'text/event-stream' } })
}

/** The SDK's own check, but for what is plainly a result: its schema costs more than the rest of an answer. */
function readMessage(value: unknown): JSONRPCMessage {
  return isPlainResult(value) ? value : parseJSONRPCMessage(value)
}

function isPlainResult(value: unknown): value is JSONRPCMessage {
  if (!isObject(value) || value.jsonrpc !== '2.0' || Object.keys(value).length !== 3) return false
  const { id, result } = value
  return (typeof id === 'string' || Number.isSafeInteger(id)) && isObject(result) && result._meta === undefined
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
