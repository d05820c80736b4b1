/**
 * A leased connection whose requests are timed and traced. The trace context is sent in `_meta`. A tool call already
 * has a span, which only gets attributes here; any other request gets a child span.
 */

import { type Attributes, type Context, type Span, SpanKind, trace } from '@opentelemetry/api'
import { HostError } from '../../errors.ts'
import type { JsonObject } from '../../schema/json.ts'
import type { Server } from '../../schema/toolkit/server.ts'
import { ATTRIBUTE, CALL_METHOD, CONNECT_SPAN, TOOL_ERROR } from '../../telemetry/conventions.ts'
import { endSpan, type Telemetry } from '../../telemetry/telemetry.ts'
import { recordingSpan, type TraceMeta, traceMeta, traceOr } from '../../telemetry/trace-context.ts'
import {
  type Completion,
  type CompletionRequest,
  type Connection,
  type ConnectionCallOptions,
  type EraVerdict,
  LIST_METHODS,
  type ListKind,
  type RawList,
  type ServerInfo,
  type SkillAddress,
  type ToolResult,
} from '../connection.ts'
import { jsonRpcCode } from '../errors.ts'

export interface TraceOptions {
  telemetry: Telemetry
  /** Trace context of the work. */
  trace: Context | undefined
  toolkit: string
  /** The record without its secrets. */
  server: Server
  /** Our own session IDs, because the server's ID grants access to the session. */
  sessionIds: WeakMap<Connection, string>
}

interface Request {
  method: string
  tool?: string
}

export class ObservedConnection implements Connection {
  readonly info: ServerInfo
  readonly verdict: EraVerdict
  readonly #inner: Connection
  readonly #options: TraceOptions

  constructor(inner: Connection, traceOptions: TraceOptions) {
    this.info = inner.info
    this.verdict = inner.verdict
    this.#inner = inner
    this.#options = traceOptions
  }

  list(kind: ListKind, options: ConnectionCallOptions): Promise<RawList> {
    return this.#spanned({ method: LIST_METHODS[kind] }, options, (passed) => this.#inner.list(kind, passed))
  }

  callTool(
    call: { name: string; arguments: JsonObject; inputSchema?: JsonObject },
    options: ConnectionCallOptions,
  ): Promise<ToolResult> {
    const span = recordingSpan(this.#options.trace)
    if (!span && !this.#options.telemetry.counters) return this.#inner.callTool(call, options)
    span?.setAttributes(this.#attributes())
    const passed = withMeta(options, this.#options.trace)
    return this.#timed({ method: CALL_METHOD, tool: call.name }, span, () => this.#inner.callTool(call, passed))
  }

  readResource(uri: string, options: ConnectionCallOptions): Promise<JsonObject> {
    return this.#spanned({ method: 'resources/read' }, options, (passed) => this.#inner.readResource(uri, passed))
  }

  listSkills(options: ConnectionCallOptions): Promise<JsonObject[]> {
    return this.#spanned({ method: 'skills/list' }, options, (passed) => this.#inner.listSkills(passed))
  }

  readSkill(address: SkillAddress, options: ConnectionCallOptions): Promise<JsonObject> {
    return this.#spanned({ method: 'resources/read' }, options, (passed) => this.#inner.readSkill(address, passed))
  }

  getPrompt(
    prompt: { name: string; arguments: Record<string, string> },
    options: ConnectionCallOptions,
  ): Promise<JsonObject> {
    return this.#spanned({ method: 'prompts/get' }, options, (passed) => this.#inner.getPrompt(prompt, passed))
  }

  complete(request: CompletionRequest, options: ConnectionCallOptions): Promise<Completion> {
    return this.#spanned({ method: 'completion/complete' }, options, (passed) => this.#inner.complete(request, passed))
  }

  isOpen(): boolean {
    return this.#inner.isOpen()
  }

  diagnostics() {
    return this.#inner.diagnostics()
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  async #spanned<T>(
    request: Request,
    options: ConnectionCallOptions,
    work: (options: ConnectionCallOptions) => Promise<T>,
  ): Promise<T> {
    const { telemetry, toolkit } = this.#options
    const parent = traceOr(this.#options.trace)
    const attributes = { [ATTRIBUTE.method]: request.method, [ATTRIBUTE.toolkit]: toolkit }
    const span = telemetry.tracer.startSpan(request.method, { kind: SpanKind.CLIENT, attributes }, parent)
    if (span.isRecording()) span.setAttributes(this.#attributes())
    const passed = withMeta(options, trace.setSpan(parent, span))
    try {
      const result = await this.#timed(request, span, () => work(passed))
      endSpan(span, undefined)
      return result
    } catch (error) {
      endSpan(span, HostError.from(error).code)
      throw error
    }
  }

  async #timed<T>(request: Request, span: Span | undefined, work: () => Promise<T>): Promise<T> {
    const startedAt = performance.now()
    try {
      const result = await work()
      const isError = request.method === CALL_METHOD && (result as ToolResult).isError
      this.#count(request, startedAt, { error: isError ? TOOL_ERROR : undefined })
      return result
    } catch (thrown) {
      const code = jsonRpcCode(thrown)
      const statusCode = code === undefined ? undefined : String(code)
      if (statusCode !== undefined) span?.setAttribute(ATTRIBUTE.statusCode, statusCode)
      this.#count(request, startedAt, { error: HostError.from(thrown).code, statusCode })
      throw thrown
    }
  }

  #count(
    { method, tool }: Request,
    startedAt: number,
    ended: { error: string | undefined; statusCode?: string | undefined },
  ): void {
    const { telemetry, toolkit } = this.#options
    const { protocolVersion } = this.info
    const transport = networkTransport(this.info)
    const seconds = (performance.now() - startedAt) / 1000
    telemetry.counters?.operation({ method, tool, toolkit, transport, protocolVersion, ...ended }, seconds)
  }

  #sessionId(): string {
    const { sessionIds } = this.#options
    const id = sessionIds.get(this.#inner) ?? crypto.randomUUID()
    sessionIds.set(this.#inner, id)
    return id
  }

  #attributes(): Attributes {
    const { server } = this.#options
    const network = networkTransport(this.info)
    return {
      [ATTRIBUTE.protocolVersion]: this.info.protocolVersion,
      [ATTRIBUTE.session]: this.#sessionId(),
      ...(network === undefined ? {} : { [ATTRIBUTE.network]: network }),
      ...(network === 'tcp' ? { [ATTRIBUTE.networkProtocol]: 'http', ...serverAddress(server) } : {}),
    }
  }
}

function withMeta(options: ConnectionCallOptions, at: Context | undefined): ConnectionCallOptions {
  const meta = at && traceMeta(at)
  return meta ? { ...options, meta } : options
}

/** Network transport by the OpenTelemetry conventions; undefined for a custom transport. */
export function networkTransport({ transport }: ServerInfo): 'pipe' | 'tcp' | undefined {
  if (transport === 'given') return undefined
  return transport === 'stdio' ? 'pipe' : 'tcp'
}

function serverAddress(server: Server): Attributes {
  const url = 'url' in server ? URL.parse(server.url) : null
  if (!url) return {}
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
  return { [ATTRIBUTE.address]: url.hostname, [ATTRIBUTE.port]: port }
}

/**
 * Records a span and a count for each connect. `open` gets the trace context of the first caller; others may share the
 * connection.
 */
export async function observeConnect(
  { tracer, counters }: Telemetry,
  target: { toolkit: string; trace: Context | undefined },
  open: (meta: TraceMeta | undefined) => Promise<Connection>,
): Promise<Connection> {
  const { toolkit } = target
  const parent = traceOr(target.trace)
  const attributes = { [ATTRIBUTE.toolkit]: toolkit }
  const span = tracer.startSpan(CONNECT_SPAN, { kind: SpanKind.INTERNAL, attributes }, parent)
  try {
    const connection = await open(traceMeta(trace.setSpan(parent, span)))
    counters?.clientStarted(toolkit, parent)
    const network = networkTransport(connection.info)
    endSpan(span, undefined, {
      [ATTRIBUTE.protocolVersion]: connection.info.protocolVersion,
      ...(network === undefined ? {} : { [ATTRIBUTE.network]: network }),
    })
    return connection
  } catch (thrown) {
    const { code } = HostError.from(thrown)
    counters?.clientFailed(toolkit, code, parent)
    endSpan(span, code)
    throw thrown
  }
}
