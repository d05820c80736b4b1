/**
 * The one door to a live server. Whoever connects (a call, an introspection, a look without registering) comes through
 * `open`, and here it is decided (`permitCommand`) whether and how a command may be run, and which fetch may be used.
 */
import type { FetchLike, Transport } from '@modelcontextprotocol/client'
import { HostError } from '../errors.ts'
import type { Tier } from '../schema/scope.ts'
import type { Connection, ConnectionHooks, ConnectionTarget, OpenConnection } from './connection.ts'
import { openSession } from './session/session.ts'
import { permitCommand, type StdioRules } from './stdio/policy.ts'
import type { CommandLine } from './stdio/template.ts'

export interface Drivers {
  /** What leaves for other reasons than a call (a sign-in, a document) leaves by the same door. */
  fetch?(tier: Tier): FetchLike
  /** Throws unless a person may be sent to the URL for a server of this tier. */
  assertAllowed?(url: URL, tier: Tier): Promise<void>
  open(target: ConnectionTarget, hooks: ConnectionHooks, tier: Tier): Promise<Connection>
  /** How many processes of stdio servers run. @default none */
  processes?(): number
  /** What an operator should know of this machine: what is missing for commands of users, or weaker than elsewhere. */
  warnings?(): Promise<readonly string[]>
  close(): Promise<void>
}

export interface DriverDeps {
  stdioRules: StdioRules
  stdio?: CommandOpeners
  /** For servers of users, and for those that the operator set up. */
  remote: { user: OpenConnection; app: OpenConnection }
  fetch: { user: FetchLike; app: FetchLike }
  /** What users' servers may send people to. @default anywhere */
  assertAllowed?(url: URL): Promise<void>
  close?(): Promise<void>
}

/** Runs a command line that is permitted. */
export type OpenCommand = (target: ConnectionTarget, hooks: ConnectionHooks, line: CommandLine) => Promise<Connection>

export interface CommandOpeners {
  direct: OpenCommand
  /** Missing where there is no sandbox: then nothing is run that needs one. */
  sandboxed?: OpenCommand
  processes?(): number
  warnings?(): Promise<readonly string[]>
  close(): Promise<void>
}

export function createDrivers({ stdioRules, stdio, remote, fetch, assertAllowed, close }: DriverDeps): Drivers {
  return {
    fetch: (tier) => (tier === 'app' ? fetch.app : fetch.user),
    assertAllowed: async (url, tier) => {
      if (tier !== 'app') await assertAllowed?.(url)
    },
    async open(target, hooks, tier) {
      const { server } = target
      // The app's code built it, so it is the app's own word that it may be used.
      if (target.transport) return openCustomTransport(target, hooks)
      if (server.type === 'custom')
        throw new HostError('protocol-error', { detail: 'A custom toolkit has no server to connect to.' })
      if (server.type !== 'stdio') return (tier === 'app' ? remote.app : remote.user)(target, hooks)
      const { line, sandboxed } = await permitCommand(server, tier, stdioRules)
      const open = sandboxed ? stdio?.sandboxed : stdio?.direct
      if (!open)
        throw new HostError('stdio-refused', {
          detail: `This host has no ${sandboxed ? 'sandbox' : 'way'} to run a command${sandboxed ? ' in' : ''}.`,
        })
      return open(target, hooks, line)
    },
    processes: () => stdio?.processes?.() ?? 0,
    warnings: async () => (stdioRules.policy === 'sandbox' ? ((await stdio?.warnings?.()) ?? []) : []),
    async close() {
      await stdio?.close()
      await close?.()
    },
  }
}

function openCustomTransport(target: ConnectionTarget, hooks: ConnectionHooks): Promise<Connection> {
  const transport = target.transport as Transport
  return openSession({ transport, kind: 'given', target, hooks, clientVersion: '0.1.0' })
}
