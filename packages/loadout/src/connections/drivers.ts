/**
 * Single entry point to live servers: every connect (call, introspection, discover) uses `open`. `permitCommand`
 * decides whether and how a command runs, and the tier decides which fetch is used.
 */
import type { FetchLike, Transport } from '@modelcontextprotocol/client'
import { HostError } from '../errors.ts'
import type { Tier } from '../schema/scope.ts'
import type { Connection, ConnectionHooks, ConnectionTarget, OpenConnection } from './connection.ts'
import { permitCommand, type StdioRules } from './stdio/policy.ts'
import type { CommandLine } from './stdio/template.ts'

export interface Drivers {
  /** Guarded fetch for requests that are no calls, such as sign-in and documents. */
  fetch?(tier: Tier): FetchLike
  /** Throws unless a user may be sent to the URL for a server of this tier. */
  assertAllowed?(url: URL, tier: Tier): Promise<void>
  open(target: ConnectionTarget, hooks: ConnectionHooks, tier: Tier): Promise<Connection>
  /** Number of running stdio processes. @default none */
  processes?(): number
  /** Warnings for operators about the machine: missing or weaker isolation of users' commands. */
  warnings?(): Promise<readonly string[]>
  close(): Promise<void>
}

export interface DriverDeps {
  stdioRules: StdioRules
  stdio?: CommandOpeners
  /** `user`: servers of users. `app`: servers of the operator. */
  remote: { user: OpenConnection; app: OpenConnection }
  fetch: { user: FetchLike; app: FetchLike }
  /** Throws unless users' servers may send people to the URL. @default allows all */
  assertAllowed?(url: URL): Promise<void>
  close?(): Promise<void>
}

/** Runs a permitted command line. */
export type OpenCommand = (target: ConnectionTarget, hooks: ConnectionHooks, line: CommandLine) => Promise<Connection>

export interface CommandOpeners {
  direct: OpenCommand
  /** Undefined without a sandbox; commands that need one are then refused. */
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
      // The app's code created this transport, so no policy applies.
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

async function openCustomTransport(target: ConnectionTarget, hooks: ConnectionHooks): Promise<Connection> {
  const transport = target.transport as Transport
  const { openSession } = await import('./session/session.ts')
  return openSession({ transport, kind: 'given', target, hooks, clientVersion: '0.1.0' })
}
