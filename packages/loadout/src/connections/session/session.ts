/**
 * A `Connection` over the SDK's client. It uses permissive schemas, so that one malformed tool or unknown content type
 * does not fail a whole response. It pages by itself, so that bad cursors end, and it throttles progress and
 * notifications.
 */

import {
  Client,
  type ConnectOptions,
  type ElicitResult,
  type JSONRPCMessage,
  type JsonSchemaValidator,
  type jsonSchemaValidator,
  type RequestOptions,
  type StandardSchemaV1,
  type Transport,
} from '@modelcontextprotocol/client'
import { HostError } from '../../errors.ts'
import { cleanText } from '../../schema/clean-text.ts'
import type { JsonObject } from '../../schema/json.ts'
import {
  type Completion,
  type CompletionRequest,
  type Connection,
  type ConnectionCallOptions,
  type ConnectionHooks,
  type ConnectionTarget,
  type ElicitationRequest,
  type EraVerdict,
  LIST_METHODS,
  type ListKind,
  type LogLevel,
  type RawList,
  type ServerInfo,
  type SkillAddress,
  type ToolResult,
} from '../connection.ts'
import { protocolError } from '../errors.ts'
import { withStartLimits } from '../pool/pending-handshakes.ts'
import { CallClocks } from './call-timeout.ts'
import { completeArgument } from './completion.ts'
import { backChannelWords, withoutBackChannel } from './eras.ts'
import { lenient, unwrapResult } from './lenient-transport.ts'
import { ListChanges } from './list-changes.ts'
import { asHostError, isInvalidResult } from './sdk-errors.ts'
import { logLevelMeta, SessionLog } from './server-output.ts'
import { listSkills, readSkill } from './skills.ts'
import { throttleProgress } from './throttle.ts'

const MAX_PAGES = 64
const MAX_LIST_ITEMS = 100_000
const MAX_LIST_BYTES = 32 * 1024 * 1024

const ANYTHING: StandardSchemaV1<unknown, JsonObject> = {
  '~standard': {
    version: 1,
    vendor: 'loadout',
    validate: (value) =>
      typeof value === 'object' && value !== null
        ? { value: value as JsonObject }
        : { issues: [{ message: 'must be an object' }] },
  },
}

export interface SessionDeps {
  transport: Transport
  kind: ServerInfo['transport']
  target: ConnectionTarget
  hooks: ConnectionHooks
  diagnostics?: Connection['diagnostics']
  /** Ends the session on the server before the transport closes. */
  endSession?: () => Promise<void>
  /** Negotiates the era, if the transport does that itself. */
  negotiate?: () => Promise<EraVerdict>
  /** Number of requests that the server's era does not allow, and the last method. */
  backChannel?: { requests: number; method: string }
  /** Time of the server's last output, by `performance.now()`. */
  lastOutputAt?: () => number | undefined
  clientVersion: string
}

/** Runs the handshake and returns the connection. Closes the transport on failure. */
export async function openSession(deps: SessionDeps): Promise<Connection> {
  const { transport, target, hooks } = deps
  const clocks = new CallClocks()
  const client = newClient(deps, clocks)
  const changes = new ListChanges(client, hooks)
  const log = new SessionLog(hooks)
  client.setNotificationHandler('notifications/message', ({ params }) => log.receive(params))
  const { connectMs, maxMs = connectMs, setting, signal, meta } = target
  const stopInjecting = meta && injectMeta(transport, meta)
  const connecting = async () => {
    const verdict = (await deps.negotiate?.()) ?? target.verdict
    await client.connect(lenient(transport), { timeout: maxMs, ...priorOptions(verdict) })
  }
  try {
    // The SDK's timeout does not cover the start of the transport.
    await withStartLimits(connecting(), { connectMs, maxMs, setting, signal, lastOutputAt: deps.lastOutputAt })
    changes.start()
    requestLogs(client, target.logLevel)
  } catch (error) {
    await client.close().catch(() => {})
    await transport.close().catch(() => {})
    throw asConnectError(asHostError(error, { timeoutMs: connectMs }))
  } finally {
    stopInjecting?.()
  }
  const session = new Session(client, deps, { clocks, changes, log })
  client.onclose = () => {
    session.ended = true
    changes.stop()
    hooks.onClosed()
  }
  return session
}

/** Legacy servers log nothing before `logging/setLevel`. The response is not awaited. */
function requestLogs(client: Client, level: LogLevel = 'info'): void {
  if (client.getProtocolEra() === 'modern' || !client.getServerCapabilities()?.logging) return
  const request = { method: 'logging/setLevel', params: { level } }
  client.request(request, ANYTHING, { timeout: SET_LEVEL_MS }).catch(() => {})
}

function priorOptions(verdict: EraVerdict | undefined): Pick<ConnectOptions, 'prior'> {
  if (verdict === undefined) return {}
  return {
    prior: verdict.era === 'legacy' ? { kind: 'legacy' } : { kind: 'modern', discover: verdict.discover as never },
  }
}

// Before the handshake no session exists that could be lost, so no MCP server answered.
function asConnectError(error: HostError): HostError {
  if (error.code !== 'session-lost' || error.cause === undefined) return error
  return protocolError('There is no MCP server at this address.', error.cause)
}

class Session implements Connection {
  /** Clocks of running calls; they pause while a user is asked. */
  readonly #clocks: CallClocks
  readonly info: ServerInfo
  readonly verdict: EraVerdict
  /** Set when the server or Loadout ends the session. */
  ended = false
  readonly #client: Client
  readonly #deps: SessionDeps
  readonly #changes: ListChanges
  readonly #log: SessionLog
  /** Whether the server confirmed the era: a handshake does, a cached era waits for the first response. */
  #confirmed: boolean
  #listed = false
  readonly #mirroring = new WeakMap<JsonObject, boolean>()

  constructor(
    client: Client,
    deps: SessionDeps,
    components: { clocks: CallClocks; changes: ListChanges; log: SessionLog },
  ) {
    this.#client = client
    this.#clocks = components.clocks
    this.#changes = components.changes
    this.#log = components.log
    this.#deps = deps
    this.#confirmed = deps.target.verdict?.era !== 'modern'
    const era = client.getProtocolEra() ?? 'legacy'
    const server = client.getServerVersion()
    this.info = {
      era,
      transport: deps.kind,
      protocolVersion: client.getNegotiatedProtocolVersion() ?? '',
      name: server?.name,
      version: server?.version,
      instructions: client.getInstructions(),
    }
    this.verdict =
      era === 'modern'
        ? { era, discover: (client.getDiscoverResult() ?? {}) as JsonObject }
        : { era: 'legacy', ...(deps.kind === 'http' || deps.kind === 'sse' ? { transport: deps.kind } : {}) }
  }

  async list(kind: ListKind, options: ConnectionCallOptions): Promise<RawList> {
    if (!this.#client.getServerCapabilities()?.[kind === 'resourceTemplates' ? 'resources' : kind])
      return { items: [], warnings: [] }
    if (kind === 'tools') this.#listed = true
    const list: RawList = { items: [], warnings: [] }
    const seenCursors = new Set<string>()
    const deadline = Date.now() + options.totalMs
    let cursor: string | undefined
    let bytes = 0
    for (let page = 0; ; page++) {
      if (page >= MAX_PAGES) throw malformed(`The list of ${kind} has more than ${MAX_PAGES} pages.`)
      const totalMs = Math.max(1, deadline - Date.now())
      const answer = await this.#request(LIST_METHODS[kind], cursor === undefined ? {} : { cursor }, {
        ...options,
        totalMs,
        timeoutMs: Math.min(options.timeoutMs, totalMs),
      }).catch((error: unknown) => {
        throw isInvalidResult(error) ? malformed(`The list of ${kind} is not a list.`) : error
      })
      if (!Array.isArray(answer[kind])) throw malformed(`The list of ${kind} is not a list.`)
      for (const item of answer[kind] as unknown[]) list.items.push(item)
      // A list is stored, so its limit is lower than that of a response.
      bytes += JSON.stringify(answer).length
      if (list.items.length > MAX_LIST_ITEMS || bytes > MAX_LIST_BYTES)
        throw new HostError('response-too-large', { detail: `The list of ${kind} is larger than we take.` })
      if (page === 0 && typeof answer.ttlMs === 'number') list.ttlMs = answer.ttlMs
      if (answer.cacheScope === 'private') list.isPrivate = true
      cursor = typeof answer.nextCursor === 'string' && answer.nextCursor !== '' ? answer.nextCursor : undefined
      if (cursor === undefined) return list
      if (seenCursors.has(cursor)) {
        list.warnings.push(`The list of ${kind} gives the same cursor again; it was read up to there.`)
        return list
      }
      seenCursors.add(cursor)
    }
  }

  async callTool(
    call: { name: string; arguments: JsonObject; inputSchema?: JsonObject },
    options: ConnectionCallOptions,
  ): Promise<ToolResult> {
    const params = withMeta({ name: call.name, arguments: call.arguments }, this.#withLogLevel(options))
    // The SDK encodes arguments that a tool mirrors into headers.
    const mirrors =
      this.info.era === 'modern' && call.inputSchema !== undefined && this.#mirrorsIntoHeaders(call.inputSchema)
    await this.#listFirst(options)
    if (!mirrors) return this.#withBackChannel(async () => readResult(await this.#send('tools/call', params, options)))
    const definition = { name: call.name, inputSchema: call.inputSchema as { type: 'object' } }
    return this.#guard(options, async (sdkOptions) =>
      readResult(
        unwrapResult(
          (await this.#client.callTool(params, { ...sdkOptions, toolDefinition: definition })) as JsonObject,
        ),
      ),
    )
  }

  /** Throws a back-channel error if a modern server could not ask its user, so that the connector can fall back. */
  async #withBackChannel(work: () => Promise<ToolResult>): Promise<ToolResult> {
    if (this.info.era !== 'modern') return work()
    const { backChannel } = this.#deps
    const before = backChannel?.requests ?? 0
    const findMessage = (outcome: unknown) =>
      backChannelWords(outcome) ??
      ((backChannel?.requests ?? 0) > before ? `The server asked for ${backChannel?.method}.` : undefined)
    const result = await work().catch((error: unknown) => {
      const message = findMessage(error)
      throw message === undefined ? error : withoutBackChannel(message)
    })
    const message = result.isError ? findMessage(result) : undefined
    if (message !== undefined) throw withoutBackChannel(message)
    return result
  }

  /** Some servers (rmcp) answer no call before a `tools/list`. */
  async #listFirst({ signal, timeoutMs, meta }: ConnectionCallOptions): Promise<void> {
    if (this.#listed || this.info.era !== 'modern' || this.info.transport !== 'stdio') return
    this.#listed = true
    const limit = Math.min(timeoutMs, LIST_FIRST_MS)
    await this.#request('tools/list', {}, { signal, meta, timeoutMs: limit, totalMs: limit }).catch(() => {})
  }

  #withLogLevel(options: ConnectionCallOptions): ConnectionCallOptions {
    if (this.info.era !== 'modern' || !this.#client.getServerCapabilities()?.logging) return options
    return { ...options, meta: { ...options.meta, ...logLevelMeta(this.#deps.target.logLevel) } }
  }

  #mirrorsIntoHeaders(schema: JsonObject): boolean {
    const cached = this.#mirroring.get(schema)
    if (cached !== undefined) return cached
    const mirrors = JSON.stringify(schema).includes('"x-mcp-header"')
    this.#mirroring.set(schema, mirrors)
    return mirrors
  }

  readResource(uri: string, options: ConnectionCallOptions): Promise<JsonObject> {
    return this.#request('resources/read', { uri }, options)
  }

  listSkills(options: ConnectionCallOptions): Promise<JsonObject[]> {
    return this.#guard(options, (sdkOptions) => listSkills(this.#client, sdkOptions))
  }

  readSkill(address: SkillAddress, options: ConnectionCallOptions): Promise<JsonObject> {
    return this.#guard(options, (sdkOptions) => readSkill(this.#client, address, sdkOptions))
  }

  getPrompt(
    prompt: { name: string; arguments: Record<string, string> },
    options: ConnectionCallOptions,
  ): Promise<JsonObject> {
    return this.#request('prompts/get', prompt, options)
  }

  complete(request: CompletionRequest, options: ConnectionCallOptions): Promise<Completion> {
    return this.#guard(options, (sdkOptions) => completeArgument(this.#client, request, sdkOptions))
  }

  diagnostics() {
    return this.#deps.diagnostics?.() ?? {}
  }

  isOpen(): boolean {
    return !this.ended
  }

  async close(): Promise<void> {
    const wasOpen = !this.ended
    this.ended = true
    this.#changes.stop()
    this.#client.onclose = undefined
    if (wasOpen) await this.#deps.endSession?.().catch(() => {})
    await this.#client.close().catch(() => {})
    await this.#deps.transport.close().catch(() => {})
  }

  #request(method: string, params: JsonObject, options: ConnectionCallOptions): Promise<JsonObject> {
    return this.#send(method, withMeta(params, options), options)
  }

  #send(method: string, params: JsonObject, options: ConnectionCallOptions): Promise<JsonObject> {
    return this.#guard(options, async (sdkOptions) =>
      unwrapResult(await this.#client.request({ method, params }, ANYTHING, sdkOptions)),
    )
  }

  async #guard<T>(options: ConnectionCallOptions, work: (options: RequestOptions) => Promise<T>): Promise<T> {
    const { signal, timeoutMs, onProgress, onLate } = options
    const clock = this.#clocks.start(options)
    const stopTracking = this.#log.track(options)
    const throttled = onProgress && throttleProgress(onProgress)
    try {
      const result = await work({
        // `CallClocks` limits the time, because it pauses while a user is asked.
        timeout: NEVER_MS,
        signal: clock.signal,
        // Always set, because progress keeps a long call alive.
        onprogress: (progress) => {
          clock.progress()
          throttled?.report(progress)
        },
      })
      this.#confirmed = true
      return result
    } catch (error) {
      if (clock.expired && !signal?.aborted) {
        onLate?.(clock.nextMs)
        throw timeoutError(clock.nextMs, error)
      }
      const failure = asHostError(error, { signal, timeoutMs, stage: this.#confirmed ? 'later' : 'first' })
      this.#confirmed ||= failure.code === 'refused-by-server'
      throw failure
    } finally {
      clock.stop()
      stopTracking()
      throttled?.end()
    }
  }
}

const withMeta = <T extends JsonObject>(params: T, { meta }: ConnectionCallOptions): T =>
  meta === undefined ? params : { ...params, _meta: meta }

const NEVER_MS = 2_147_483_647
const LIST_FIRST_MS = 10_000
const SET_LEVEL_MS = 10_000

const malformed = (detail: string) => new HostError('malformed-list', { detail })
const timeoutError = (ms: number, cause: unknown) =>
  new HostError('server-timeout', { detail: `The server did not answer within ${ms} ms.`, cause })

function readResult(answer: JsonObject): ToolResult {
  const { content = [], structuredContent, isError } = answer
  if (!Array.isArray(content)) throw protocolError('The content of the result is not a list.')
  return {
    content: content.map(asBlock),
    ...(structuredContent === undefined ? {} : { structuredContent }),
    isError: isError === true,
  }
}

// Unknown content types are kept; a value that is no block becomes JSON text.
function asBlock(block: unknown): JsonObject {
  if (typeof block === 'object' && block !== null && typeof (block as JsonObject).type === 'string')
    return block as JsonObject
  return { type: 'text', text: JSON.stringify(block) ?? '' }
}

/** Open elicitation requests per session; more are declined. */
const MAX_OPEN_QUESTIONS = 3

export interface ClientDeps {
  target: ConnectionTarget
  hooks: ConnectionHooks
  clientVersion: string
}

export const MODERN_VERSION = '2026-07-28'

/** Milliseconds that a server may take to answer `server/discover`. */
export const probeTimeoutMs = ({ connectMs }: ConnectionTarget, maxMs = 3000) => Math.min(connectMs / 2, maxMs)

/** Client info and capabilities that servers see. */
export const clientIdentity = (clientVersion: string) => ({
  info: { name: 'loadout', version: clientVersion },
  capabilities: {
    elicitation: { form: { applyDefaults: true }, url: {} },
    extensions: { 'io.modelcontextprotocol/skills': {} },
  },
})

export function newClient({ target, hooks, clientVersion }: ClientDeps, clocks: CallClocks): Client {
  const { info, capabilities } = clientIdentity(clientVersion)
  const client = new Client(info, {
    capabilities,
    versionNegotiation: {
      mode: target.only === 'modern' ? { pin: MODERN_VERSION } : 'auto',
      probe: { timeoutMs: probeTimeoutMs(target) },
    },
    // Output is checked by our own validator, which a server's schema cannot block.
    jsonSchemaValidator: NO_VALIDATION,
  })
  let open = 0
  client.setRequestHandler('elicitation/create', async (request, context) => {
    const question = parseElicitation(request.params as JsonObject)
    if (open >= MAX_OPEN_QUESTIONS || question === undefined) return { action: 'decline' as const }
    open++
    const paused = clocks.running()
    for (const clock of paused) clock.pause()
    try {
      const answer = await hooks.onElicitation(question, context.mcpReq.signal)
      return answer as ElicitResult
    } finally {
      open--
      for (const clock of paused) clock.resume()
    }
  })
  return client
}

/** Returns undefined if the request must not reach a user: its URL is no web page. */
function parseElicitation(params: JsonObject): ElicitationRequest | undefined {
  const mode = params.mode === 'url' ? ('url' as const) : ('form' as const)
  const message = cleanText(String(params.message ?? '').slice(0, 4000)).text
  if (mode === 'url') {
    const url = URL.parse(String(params.url ?? ''))
    return url?.protocol === 'https:' || url?.protocol === 'http:' ? { mode, message, url: url.href } : undefined
  }
  return { mode, message, requestedSchema: (params.requestedSchema ?? { type: 'object' }) as JsonObject }
}

/** The SDK would validate against the server's schema, synchronously and without a limit. */
export const NO_VALIDATION: jsonSchemaValidator = {
  getValidator<T>(): JsonSchemaValidator<T> {
    return (input) => ({ valid: true, data: input as T, errorMessage: undefined })
  },
}

/**
 * Adds `_meta` to the SDK's handshake requests by wrapping `transport.send`, until the returned function is called.
 * Keys that the SDK sets win.
 */
export function injectMeta(transport: Transport, meta: Readonly<Record<string, string>>): () => void {
  const ownSend = Object.getOwnPropertyDescriptor(transport, 'send')
  const send = transport.send
  transport.send = (message, options) => send.call(transport, addMeta(message, meta), options)
  return () => {
    if (ownSend) Object.defineProperty(transport, 'send', ownSend)
    else Reflect.deleteProperty(transport, 'send')
  }
}

function addMeta(message: JSONRPCMessage, meta: Readonly<Record<string, string>>): JSONRPCMessage {
  if (!('method' in message && 'id' in message)) return message
  const params = (message.params ?? {}) as JsonObject
  return {
    ...message,
    params: { ...params, _meta: { ...meta, ...(params._meta as JsonObject | undefined) } },
  } as JSONRPCMessage
}
