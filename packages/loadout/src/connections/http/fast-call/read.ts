/**
 * Reads the response to one fast-path request like the SDK's transport does: JSON must contain messages, invalid events
 * are skipped, and a stream that ends without a response is reported at once. Resumable streams and all other responses
 * are passed to `takeOver`.
 */

import {
  type JSONRPCMessage,
  type JSONRPCRequest,
  parseJSONRPCMessage,
  type TransportSendOptions,
} from '@modelcontextprotocol/client'
import { isObject } from '../../../util/is-object.ts'
import type { ResponseReader, StreamEnd } from './contract.ts'

export interface DirectCall {
  request: JSONRPCRequest
  options: TransportSendOptions | undefined
}

/** Receives messages and failures. */
export interface Receiver {
  deliver(message: JSONRPCMessage): void
  /** Reports an event that is no valid message. */
  pass(error: Error): void
  /** The stream ended without a response and cannot be resumed. */
  end(call: DirectCall): void
  /** No readable response arrived. */
  fail(call: DirectCall, error: Error): void
  /** Continues with this response in the SDK's transport. */
  takeOver(call: DirectCall, response: Response): Promise<void>
  /** No more data will arrive for the call. */
  forget(call: DirectCall): void
}

interface Settle {
  resolve(): void
  reject(error: unknown): void
}

export class FastCallReader implements ResponseReader {
  /** Set when the caller aborts; later events are ignored. */
  isStopped = false
  #hasResponse = false
  /** Events to deliver after the current one. */
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

  /** The SDK handles notifications one microtask later, so a response right after them must wait. */
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

/** An event stream that repeats the resume hints of another stream and ends. */
function resumeResponse({ lastEventId, retryMs }: StreamEnd): Response {
  const retry = retryMs === undefined ? '' : `retry: ${retryMs}\n`
  const id = lastEventId === undefined ? '' : `id: ${lastEventId}\ndata:\n`
  return new Response(`${retry}${id}\n`, { headers: { 'content-type': 'text/event-stream' } })
}

/** Skips the SDK's schema for plain results, because that check costs more than the rest of the response. */
function readMessage(value: unknown): JSONRPCMessage {
  return isPlainResult(value) ? value : parseJSONRPCMessage(value)
}

function isPlainResult(value: unknown): value is JSONRPCMessage {
  if (!isObject(value) || value.jsonrpc !== '2.0' || Object.keys(value).length !== 3) return false
  const { id, result } = value
  return (typeof id === 'string' || Number.isSafeInteger(id)) && isObject(result) && result._meta === undefined
}
