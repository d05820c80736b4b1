/** Faults of a test server. They apply before the server reads a request, so they are the same over every transport. */
import type { JsonObject } from '../../schema/json.ts'
import { sleep } from '../../util/abort.ts'
import { isObject } from '../../util/is-object.ts'

export interface Fault {
  /**
   * - `delay`: the answer comes after `ms`
   * - `silent`: no answer comes
   * - `error`: a JSON-RPC error, with `message`
   * - `tool-error`: a result that reports an error, with `message`
   * - `malformed`: a result with fields of wrong types
   * - `disconnect`: the connection breaks without an answer, and a process ends
   * - `status`: an HTTP status; a JSON-RPC error over stdio
   */
  kind: 'delay' | 'silent' | 'error' | 'tool-error' | 'malformed' | 'disconnect' | 'status'
  /** Request that the fault applies to. @default 'call' */
  on?: 'connect' | 'list' | 'call'
  /** Name of the called tool. @default every tool */
  tool?: string
  /** Number of requests with the fault; later ones succeed. @default all */
  times?: number
  /** Delay in milliseconds. @default 1000 */
  ms?: number
  /** Text of an error. @default 'The test server failed.' */
  message?: string
  /** HTTP status. @default 500 */
  status?: number
  /** Headers of an HTTP status, such as `retry-after`. */
  headers?: Readonly<Record<string, string>>
}

/** Replaces the server's answer to a request. */
export type Interference =
  | { type: 'answer'; message: JsonObject }
  | { type: 'silence' }
  | { type: 'disconnect' }
  | { type: 'status'; status: number; headers: Readonly<Record<string, string>>; message: JsonObject }

const METHODS: Readonly<Record<string, NonNullable<Fault['on']>>> = {
  initialize: 'connect',
  'server/discover': 'connect',
  'tools/list': 'list',
  'tools/call': 'call',
}
const INTERNAL_ERROR = -32_603
const DEFAULT_DELAY_MS = 1000

export class Faults {
  #pending: Array<Fault & { left: number }> = []

  add(fault: Fault): void {
    this.#pending.push({ ...fault, left: fault.times ?? Number.POSITIVE_INFINITY })
  }

  clear(): void {
    this.#pending = []
  }

  /** Waits if the request is delayed. Returns undefined if the server is to answer it. */
  async interfere(message: unknown): Promise<Interference | undefined> {
    const fault = this.#take(message)
    if (fault?.kind !== 'delay') return fault && interferenceOf(fault, (message as JsonObject).id)
    await sleep(fault.ms ?? DEFAULT_DELAY_MS)
    return undefined
  }

  #take(message: unknown): (Fault & { left: number }) | undefined {
    if (!isObject(message) || message.id === undefined || typeof message.method !== 'string') return undefined
    const on = METHODS[message.method]
    const tool = isObject(message.params) ? message.params.name : undefined
    const found = this.#pending.find(
      (fault) => (fault.on ?? 'call') === on && (fault.tool === undefined || fault.tool === tool) && fault.left > 0,
    )
    if (found) found.left--
    return found
  }
}

function interferenceOf(fault: Fault, id: unknown): Interference {
  const { kind, message: text = 'The test server failed.', status = 500, headers = {} } = fault
  const answer = (body: JsonObject): JsonObject => ({ jsonrpc: '2.0', id, ...body })
  const error = answer({ error: { code: INTERNAL_ERROR, message: text } })
  switch (kind) {
    case 'silent':
      return { type: 'silence' }
    case 'disconnect':
      return { type: 'disconnect' }
    case 'status':
      return { type: 'status', status, headers, message: error }
    case 'malformed':
      return { type: 'answer', message: answer({ result: { content: 'malformed', tools: 'malformed' } }) }
    case 'tool-error':
      return { type: 'answer', message: answer({ result: { content: [{ type: 'text', text }], isError: true } }) }
    default:
      return { type: 'answer', message: error }
  }
}
