/** What a connector is made of, and what it is asked for. */
import type { Context } from '@opentelemetry/api'
import type { Emitter } from '../events.ts'
import type { RemoteServer } from '../schema/server.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import type { StoredToolkit } from '../toolkits/stored-toolkit.ts'
import type { Connection, Question, QuestionAnswer, RequestAuth } from './connection.ts'
import type { Drivers } from './drivers.ts'
import type { PoolOptions } from './lease.ts'

export interface ConnectorParts {
  drivers: Drivers
  /** Opens an owner's secrets of a toolkit. */
  secrets(owner: { userId: string; toolkit: string }): Promise<Record<string, string>>
  events: Emitter
  /** How this user is let into the server, where it may want a sign-in. The record has its secrets in it. */
  auth?(stored: StoredToolkit, userId: string, server: RemoteServer): RequestAuth | undefined
  /** What else must not be repeated of what a server says: tokens, which come and go without the record. */
  tokens?(stored: StoredToolkit, userId: string): readonly string[]
  /** Puts a server's question to the user who is on the line. */
  ask(
    who: { userId: string; toolkit: string; uscoId: string },
    question: Question,
    signal: AbortSignal,
  ): Promise<QuestionAnswer>
  /** The server says that its tools changed. */
  onToolsChanged(stored: StoredToolkit, userId: string): void
  /** @default the app's own, where it registered any */
  telemetry?: Telemetry
  pool?: Omit<PoolOptions, 'onChange'>
  startup?: StartupOptions | undefined
}

/** How long servers may take to start, where their record says nothing. */
export interface StartupOptions {
  /** For a command, until it answers. @default 60_000 */
  stdioMs?: number | undefined
  /** For a command that still prints, as an installer does. @default 300_000 */
  stdioMostMs?: number | undefined
}

/** What is done on a connection. The signal is that of a start, which may be cancelled until its work is done. */
export interface Work<T> {
  work: (connection: Connection, signal?: AbortSignal) => Promise<T>
}

export interface UseOptions {
  /** How long the handshake may take. @default what the host says for this kind of server */
  connectMs?: number | undefined
  /** The setting that a timeout of the handshake names. @default 'timeouts.connectMs' */
  setting?: string | undefined
  /** Whether the work is the first list of the server: until it is there, the server counts as starting. */
  isFirstList?: boolean | undefined
  /** Whether the work may be done again on a new session when the old one is lost in the middle of it. */
  repeatable: boolean
  /** How long to wait where a server asks for patience (429), before it is asked once more. @default 0 */
  patienceMs?: number | undefined
  signal?: AbortSignal | undefined
  /** What the work belongs to. */
  trace?: Context | undefined
}
