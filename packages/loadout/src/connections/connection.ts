/**
 * The connection contract: a live session with one server. A driver opens one; the pool leases it out; nobody stores it.
 * Every wait has a deadline, every failure is a `HostError` with its own code, and what a server says is handed on as it
 * came: checking manifests is the catalog's work, checking results is the pipeline's.
 */

import type { FetchLike } from '@modelcontextprotocol/client'
import type { JsonObject } from '../schema/json.ts'
import type { Server } from '../schema/toolkit/server.ts'

/** Which protocol a server speaks, remembered so that the next connect needs no probe. */
export type EraVerdict = { era: 'legacy'; transport?: 'http' | 'sse' } | { era: 'modern'; discover: JsonObject }

/** Lets the requests of one user into one server. */
export interface RequestAuth {
  /** A fetch that signs what goes to the server, and signs anew what the server refuses. */
  wrap(fetch: FetchLike): FetchLike
  /** What a request on the short way carries; undefined where it has to take the long one. */
  headers(): readonly string[] | undefined
}

/** `installing`: a package is fetched; `starting`: a process has yet to answer; `probing`: which era it speaks; `listing`: its tools. */
export type StartPhase = 'installing' | 'starting' | 'probing' | 'listing'

/** How far a start is, with what the command printed last. */
export interface StartProgress {
  phase: StartPhase
  lastLine?: string | undefined
}

export interface ConnectionTarget {
  /** With its secrets in it. */
  server: Server
  /** How long a handshake may take. */
  connectMs: number
  /** How long it may take while the command still prints: an installer at work. @default connectMs */
  maxMs?: number | undefined
  /** The setting that `connectMs` comes from, as a failure names it. @default 'timeouts.connectMs' */
  setting?: string | undefined
  /** Told how a start goes on. */
  onProgress?: ((progress: StartProgress) => void) | undefined
  verdict?: EraVerdict | undefined
  /** The only era to speak, as the record says. @default either */
  only?: EraVerdict['era'] | undefined
  /** Level from which on the server is asked to log. @default 'info' */
  logLevel?: LogLevel | undefined
  /** Where the server may want its user to sign in. */
  auth?: RequestAuth | undefined
  /** What must not be repeated in a failure's words. */
  secrets?: readonly string[]
  /** A transport of the MCP SDK that the app itself built, in place of the server. */
  transport?: unknown
  /** What goes along with the requests of the handshake, in their `_meta`. */
  meta?: Readonly<Record<string, string>> | undefined
  /** Gives the handshake up. */
  signal?: AbortSignal | undefined
}

/** A server's question to the user, in the middle of a call. */
export interface ElicitationRequest {
  mode: 'form' | 'url'
  message: string
  /** What a form asks for: a JSON Schema. */
  requestedSchema?: JsonObject
  url?: string
}
export type ElicitationResult =
  | { action: 'accept'; content?: JsonObject }
  | { action: 'decline' }
  | { action: 'cancel' }

export type LogLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency'

/** What a server logged, cleaned and bounded. */
export interface ServerLogEntry {
  at: Date
  level: LogLevel
  logger?: string
  text: string
}

export interface ConnectionHooks {
  /** The server logged something. Gives it as who calls may read it. Floods are already calmed. */
  onLog?(entry: ServerLogEntry): ServerLogEntry | undefined
  /** The server says that its tools, resources or prompts changed. Storms are already calmed. */
  onListChanged(kind: 'tools' | 'resources' | 'prompts'): void
  /** The session ended without our doing. */
  onClosed(): void
  onElicitation(question: ElicitationRequest, signal: AbortSignal): Promise<ElicitationResult>
}

export interface CallOptions {
  signal?: AbortSignal | undefined
  /** Without progress for this long, the call fails. */
  timeoutMs: number
  /** And after this long in any case. */
  totalMs: number
  /** Told which of the two ran out, before the call fails. */
  onLate?: ((ms: number) => void) | undefined
  onProgress?: ((progress: { progress: number; total?: number; message?: string }) => void) | undefined
  /** Told what the server logs meanwhile, where it belongs to this request. */
  onLog?: ((entry: ServerLogEntry) => void) | undefined
  /** What goes along with the request, in its `_meta`: the trace that it belongs to. */
  meta?: Readonly<Record<string, string>> | undefined
}

/** A result as the server gave it; `isError` is the tool's own failure. */
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

/** A list as the server gave it, with the server's word on how long it holds. */
export interface RawList {
  items: unknown[]
  ttlMs?: number | undefined
  /** Whether it holds for this authorization alone. */
  isPrivate?: boolean
  /** What was odd about the pages, for the record. */
  warnings: string[]
}

export type ListKind = 'tools' | 'resources' | 'resourceTemplates' | 'prompts'

export const LIST_METHODS = {
  tools: 'tools/list',
  resources: 'resources/list',
  resourceTemplates: 'resources/templates/list',
  prompts: 'prompts/list',
} as const satisfies Record<ListKind, string>

/** Asks for suggestions while an argument of a prompt or of a URI template is typed. */
export interface CompletionRequest {
  ref: { type: 'ref/prompt'; name: string } | { type: 'ref/resource'; uri: string }
  argument: { name: string; value: string }
  /** The arguments that are already filled in: suggestions may depend on them. */
  arguments?: Record<string, string> | undefined
}

export interface Completion {
  /** At most 100, best first. */
  values: string[]
  /** How many there are, where the server says so. */
  total?: number
  hasMore?: boolean
}

/** A file of a skill: by the URI of the skill's `SKILL.md`, and its own path or URI. */
export interface SkillAddress {
  skill: string
  /** @default the `SKILL.md` */
  file?: string | undefined
}

export interface Connection {
  readonly info: ServerInfo
  readonly verdict: EraVerdict
  list(kind: ListKind, options: CallOptions): Promise<RawList>
  callTool(
    call: { name: string; arguments: JsonObject; inputSchema?: JsonObject },
    options: CallOptions,
  ): Promise<ToolResult>
  readResource(uri: string, options: CallOptions): Promise<JsonObject>
  /** Skills, and one file of one, checked against what the server lists of it. */
  listSkills(options: CallOptions): Promise<JsonObject[]>
  readSkill(address: SkillAddress, options: CallOptions): Promise<JsonObject>
  getPrompt(prompt: { name: string; arguments: Record<string, string> }, options: CallOptions): Promise<JsonObject>
  /** Empty where the server declares no completions. */
  complete(request: CompletionRequest, options: CallOptions): Promise<Completion>
  /** Whether it can still be used. */
  isOpen(): boolean
  /** What the process said on stderr lately, and its group. */
  diagnostics(): { stderr?: string; pid?: number }
  close(): Promise<void>
}

export type OpenConnection = (target: ConnectionTarget, hooks: ConnectionHooks) => Promise<Connection>

/**
 * The largest answer of a server, over any transport, in decoded bytes: a body, an event of a stream, a line of a process.
 * Room for a text of 64 MiB, also where its characters are escaped or it is said again as structured content. It is held
 * whole while it is read, so an operator with many users may want less.
 */
export const MAX_RESPONSE_BYTES = 128 * 1024 * 1024
