/**
 * The connection contract: a live session with one server. A driver opens it, the pool leases it, and nothing stores
 * it. Every wait has a deadline and every failure is a `HostError` with its own code. Server output is not checked
 * here: the catalog checks manifests and the pipeline checks results.
 */

import type { FetchLike } from '@modelcontextprotocol/client'
import type { JsonObject } from '../schema/json.ts'
import type { Server } from '../schema/toolkit/server.ts'

/** Protocol era of a server, cached so that the next connect needs no probe. */
export type EraVerdict = { era: 'legacy'; transport?: 'http' | 'sse' } | { era: 'modern'; discover: JsonObject }

/** Authenticates one user's requests to one server. */
export interface RequestAuth {
  /** Returns a fetch that signs requests to the server and signs them again after a refusal. */
  wrap(fetch: FetchLike): FetchLike
  /** Auth headers for the fast path; undefined if the request needs the wrapped fetch. */
  headers(): readonly string[] | undefined
}

/**
 * `installing`: downloads a package. `starting`: the process has not answered yet. `probing`: negotiates the era.
 * `listing`: lists the tools.
 */
export type StartPhase = 'installing' | 'starting' | 'probing' | 'listing'

/** Progress of a start, with the last line that the command printed. */
export interface StartProgress {
  phase: StartPhase
  lastLine?: string | undefined
}

export interface ConnectionTarget {
  /** The record with its secrets filled in. */
  server: Server
  /** Handshake timeout in milliseconds. */
  connectMs: number
  /** Handshake timeout in milliseconds while the command still prints, for example an installer. @default connectMs */
  maxMs?: number | undefined
  /** Name of the setting behind `connectMs`, for the error message. @default 'timeouts.connectMs' */
  setting?: string | undefined
  /** Called when the start makes progress. */
  onProgress?: ((progress: StartProgress) => void) | undefined
  verdict?: EraVerdict | undefined
  /** The only era to use, from the record. @default either */
  only?: EraVerdict['era'] | undefined
  /** Lowest level that the server should log. @default 'info' */
  logLevel?: LogLevel | undefined
  /** Set if the server may require its user to sign in. */
  auth?: RequestAuth | undefined
  /** Values to redact from error messages. */
  secrets?: readonly string[]
  /** An MCP SDK transport that the app created; used instead of `server`. */
  transport?: unknown
  /** Added to the `_meta` of handshake requests. */
  meta?: Readonly<Record<string, string>> | undefined
  /** Cancels the handshake. */
  signal?: AbortSignal | undefined
}

/** A server's elicitation request to the user during a call. */
export interface ElicitationRequest {
  mode: 'form' | 'url'
  message: string
  /** JSON Schema of the form. */
  requestedSchema?: JsonObject
  url?: string
}
export type ElicitationResult =
  | { action: 'accept'; content?: JsonObject }
  | { action: 'decline' }
  | { action: 'cancel' }

export type LogLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency'

/** A server's log entry, sanitized and bounded. */
export interface ServerLogEntry {
  at: Date
  level: LogLevel
  logger?: string
  text: string
}

export interface ConnectionHooks {
  /** Called for each log entry, already rate-limited. Returns the entry as the caller may read it, or undefined. */
  onLog?(entry: ServerLogEntry): ServerLogEntry | undefined
  /** Called when the server's tools, resources or prompts changed, already throttled. */
  onListChanged(kind: 'tools' | 'resources' | 'prompts'): void
  /** Called when the session ends and Loadout did not close it. */
  onClosed(): void
  onElicitation(question: ElicitationRequest, signal: AbortSignal): Promise<ElicitationResult>
}

export interface ConnectionCallOptions {
  signal?: AbortSignal | undefined
  /** Fails the call after this many milliseconds without progress. */
  timeoutMs: number
  /** Fails the call after this many milliseconds in total. */
  totalMs: number
  /** Called with the timeout that expired, before the call fails. */
  onLate?: ((ms: number) => void) | undefined
  onProgress?: ((progress: { progress: number; total?: number; message?: string }) => void) | undefined
  /** Called for log entries that belong to this request. */
  onLog?: ((entry: ServerLogEntry) => void) | undefined
  /** Added to the request's `_meta`: its trace context. */
  meta?: Readonly<Record<string, string>> | undefined
}

/** A result as the server sent it. `isError` marks a failure of the tool itself. */
export interface ToolResult {
  content: JsonObject[]
  structuredContent?: unknown
  isError: boolean
}

export interface ServerInfo {
  era: EraVerdict['era']
  transport: 'stdio' | 'http' | 'sse' | 'given'
  protocolVersion: string
  name?: string | undefined
  version?: string | undefined
  instructions?: string | undefined
}

/** A list as the server sent it, with the server's cache hints. */
export interface RawList {
  items: unknown[]
  ttlMs?: number | undefined
  /** Whether the list is valid for this authorization only. */
  isPrivate?: boolean
  /** Problems with the pages, for the record. */
  warnings: string[]
}

export type ListKind = 'tools' | 'resources' | 'resourceTemplates' | 'prompts'

export const LIST_METHODS = {
  tools: 'tools/list',
  resources: 'resources/list',
  resourceTemplates: 'resources/templates/list',
  prompts: 'prompts/list',
} as const satisfies Record<ListKind, string>

/** Requests suggestions for an argument of a prompt or a URI template. */
export interface CompletionRequest {
  ref: { type: 'ref/prompt'; name: string } | { type: 'ref/resource'; uri: string }
  argument: { name: string; value: string }
  /** Arguments that already have a value; suggestions may depend on them. */
  arguments?: Record<string, string> | undefined
}

export interface Completion {
  /** At most 100, best first. */
  values: string[]
  /** Total number of suggestions, if the server reports it. */
  total?: number
  hasMore?: boolean
}

/** A file of a skill: the URI of the skill's `SKILL.md`, and the file's path or URI. */
export interface SkillAddress {
  skill: string
  /** @default the `SKILL.md` */
  file?: string | undefined
}

export interface Connection {
  readonly info: ServerInfo
  readonly verdict: EraVerdict
  list(kind: ListKind, options: ConnectionCallOptions): Promise<RawList>
  callTool(
    call: { name: string; arguments: JsonObject; inputSchema?: JsonObject },
    options: ConnectionCallOptions,
  ): Promise<ToolResult>
  readResource(uri: string, options: ConnectionCallOptions): Promise<JsonObject>
  /** Skills and their files. Each file is verified against the server's skill list. */
  listSkills(options: ConnectionCallOptions): Promise<JsonObject[]>
  readSkill(address: SkillAddress, options: ConnectionCallOptions): Promise<JsonObject>
  getPrompt(
    prompt: { name: string; arguments: Record<string, string> },
    options: ConnectionCallOptions,
  ): Promise<JsonObject>
  /** Empty if the server declares no completions. */
  complete(request: CompletionRequest, options: ConnectionCallOptions): Promise<Completion>
  /** Whether the session is still usable. */
  isOpen(): boolean
  /** Recent stderr output of the process, and its process group. */
  diagnostics(): { stderr?: string; pid?: number }
  close(): Promise<void>
}

export type OpenConnection = (target: ConnectionTarget, hooks: ConnectionHooks) => Promise<Connection>

/**
 * Largest response over any transport, in decoded bytes: a body, a stream event, or a line of a process. It has room
 * for a text of 64 MiB, even if the text is escaped or repeated as structured content. A response is in memory as a
 * whole, so hosts with many users may need a lower limit.
 */
export const MAX_RESPONSE_BYTES = 128 * 1024 * 1024
