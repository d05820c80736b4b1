/**
 * A server that misbehaves on purpose. A script says which tools it lists and what it does at each method; the same script
 * runs over stdio (`fault-stdio.ts`) and HTTP (`fault-http.ts`), in the old era and in the new. Hand-written JSON-RPC: an
 * SDK would not let it be this wrong.
 */

export interface FaultTool {
  name?: unknown
  [key: string]: unknown
}

/** What happens instead of an answer, or before it. */
export type Fault =
  | { do: 'hang' }
  | { do: 'exit'; code?: number; stderr?: string }
  | { do: 'delay'; ms: number }
  | { do: 'error'; code: number; message: string }
  | { do: 'result'; result: unknown }
  | { do: 'text'; lines: string[] }
  | { do: 'bytes'; count: number; newline?: boolean }
  | { do: 'progress'; count: number; everyMs?: number }
  | { do: 'notify'; method: string; count: number; params?: Record<string, unknown> }
  /** On stderr, where there is one. */
  | { do: 'print'; text: string }
  | { do: 'ask'; count: number; params?: Record<string, unknown> }
  | { do: 'twice' }
  | { do: 'pages' }

export interface FaultScript {
  /** Which handshakes it answers. @default 'both' */
  era?: 'legacy' | 'modern' | 'both'
  tools?: FaultTool[]
  /** What it does at a method; several are done in order, then the answer is given. */
  at?: Record<string, Fault | Fault[]>
  /** Only so many times, then it behaves. */
  times?: number
  /** What a tool says: its arguments, or the `_meta` of all requests until then. @default 'arguments' */
  says?: 'arguments' | 'metas'
}

export interface SeenMeta {
  method: string
  meta: Record<string, unknown>
}

export interface Message {
  id?: number | string
  method?: string
  params?: Record<string, unknown>
  result?: unknown
}

/** What a transport lends to the script. */
export interface FaultIo {
  send(message: object): void
  raw(text: string): void
  /** Whether writing has to wait. */
  bytes(count: number, newline: boolean): void
  exit(code: number, stderr: string): void
  print?(text: string): void
}

const ECHO: FaultTool = {
  name: 'echo',
  description: 'Says it again.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
  annotations: { readOnlyHint: true },
}
const MODERN = '2026-07-28'
const CAPABILITIES = { tools: { listChanged: true }, resources: {}, prompts: {} }

export class FaultServer {
  /** Tool calls that it got, by name. */
  readonly calls: string[] = []
  /** What came along with each request. */
  readonly metas: SeenMeta[] = []
  readonly #script: FaultScript
  readonly #done = new Map<string, number>()

  constructor(script: FaultScript) {
    this.#script = script
  }

  /** Handles one message. Resolves when it has said all that it will say. */
  async handle(message: Message, io: FaultIo): Promise<void> {
    if (message.method === undefined || message.id === undefined) return
    this.metas.push({ method: message.method, meta: (message.params?._meta ?? {}) as SeenMeta['meta'] })
    if (message.method === 'tools/call') this.calls.push(String(message.params?.name))
    const faults = [this.#script.at?.[message.method] ?? []].flat()
    const count = (this.#done.get(message.method) ?? 0) + 1
    this.#done.set(message.method, count)
    if (this.#script.times === undefined || count <= this.#script.times)
      for (const fault of faults) if (await this.#commit(fault, message, io)) return
    const answer = this.#answer(message)
    io.send({ jsonrpc: '2.0', id: message.id, ...answer })
  }

  /** Whether the fault stood in place of the answer. */
  async #commit(fault: Fault, message: Message, io: FaultIo): Promise<boolean> {
    const { id } = message
    switch (fault.do) {
      case 'hang':
        return true
      case 'exit':
        io.exit(fault.code ?? 1, fault.stderr ?? '')
        return true
      case 'delay':
        await new Promise((resolve) => setTimeout(resolve, fault.ms))
        return false
      case 'error':
        io.send({ jsonrpc: '2.0', id, error: { code: fault.code, message: fault.message } })
        return true
      case 'result':
        io.send({ jsonrpc: '2.0', id, result: fault.result })
        return true
      case 'text':
        for (const line of fault.lines) io.raw(line)
        return false
      case 'bytes':
        io.bytes(fault.count, fault.newline ?? false)
        return true
      case 'progress':
        await this.#progress(fault, message, io)
        return false
      case 'notify':
        for (let i = 0; i < fault.count; i++)
          io.send({ jsonrpc: '2.0', method: fault.method, ...(fault.params ? { params: fault.params } : {}) })
        return false
      case 'print':
        io.print?.(fault.text)
        return false
      case 'ask':
        for (let i = 0; i < fault.count; i++)
          io.send({
            jsonrpc: '2.0',
            id: `ask-${i}`,
            method: 'elicitation/create',
            params: fault.params ?? { message: `Question ${i}`, requestedSchema: { type: 'object', properties: {} } },
          })
        return false
      case 'pages':
        // Always one page more.
        io.send({
          jsonrpc: '2.0',
          id,
          result: { ...(this.#answer(message) as { result: object }).result, nextCursor: crypto.randomUUID() },
        })
        return true
      case 'twice':
        io.send({ jsonrpc: '2.0', id, ...this.#answer(message) })
        io.send({ jsonrpc: '2.0', id: 999_999, result: {} })
        return false
    }
  }

  async #progress(fault: { count: number; everyMs?: number }, { params }: Message, io: FaultIo): Promise<void> {
    const token = (params?._meta as { progressToken?: unknown } | undefined)?.progressToken
    for (let i = 1; i <= fault.count; i++) {
      io.send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: token, progress: i } })
      if (fault.everyMs !== undefined) await new Promise((resolve) => setTimeout(resolve, fault.everyMs))
    }
  }

  #answer({ method, params = {} }: Message): { result: unknown } | { error: { code: number; message: string } } {
    const { era = 'both', tools = [ECHO], says = 'arguments' } = this.#script
    const said = says === 'metas' ? this.metas : (params.arguments ?? {})
    const info = { serverInfo: { name: 'fault', version: '1' }, capabilities: CAPABILITIES }
    const unknown = { error: { code: -32_601, message: 'Method not found' } }
    switch (method) {
      case 'initialize':
        return era === 'modern' ? unknown : { result: { protocolVersion: '2025-11-25', ...info } }
      case 'server/discover':
        return era === 'legacy'
          ? unknown
          : {
              result: { resultType: 'complete', supportedVersions: [MODERN], ...info, ttlMs: 0, cacheScope: 'private' },
            }
      case 'tools/list':
        return { result: { ...complete(era), tools, ttlMs: 0, cacheScope: 'private' } }
      case 'tools/call':
        return {
          result: { ...complete(era), content: [{ type: 'text', text: JSON.stringify(said) }] },
        }
      default:
        return { result: { ...complete(era) } }
    }
  }
}

const complete = (era: string) => (era === 'legacy' ? {} : { resultType: 'complete' })
