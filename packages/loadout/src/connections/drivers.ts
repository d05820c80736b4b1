/**
 * The one door to a live server. Whoever connects (a call, an introspection, a look without registering) comes through
 * `open`, and here it is decided whether a command may be run and which fetch may be used.
 */
import type { Transport } from '@modelcontextprotocol/client'
import { HostError } from '../errors.ts'
import type { Tier } from '../schema/scope.ts'
import type { Connection, ConnectionHooks, ConnectionTarget, OpenConnection } from './connection.ts'
import { openSession } from './session.ts'

/** Who may run stdio servers of their own (SPEC 4.3). */
export type StdioPolicy = 'off' | 'templates' | 'sandbox' | 'on'

export interface Drivers {
  open(target: ConnectionTarget, hooks: ConnectionHooks, tier: Tier): Promise<Connection>
  /** How many processes of stdio servers run. @default none */
  processes?(): number
  close(): Promise<void>
}

export interface DriverParts {
  stdioPolicy: StdioPolicy
  stdio?: { open: OpenConnection; processes?(): number; close(): Promise<void> }
  /** For servers of users, and for those that the operator set up. */
  remote: { user: OpenConnection; app: OpenConnection }
  close?(): Promise<void>
}

export function createDrivers({ stdioPolicy, stdio, remote, close }: DriverParts): Drivers {
  return {
    async open(target, hooks, tier) {
      const { server } = target
      // The app's code built it, so it is the app's own word that it may be used.
      if (target.transport) return openGiven(target, hooks)
      if (server.type === 'custom')
        throw new HostError('protocol-error', { detail: 'A custom toolkit has no server to connect to.' })
      if (server.type !== 'stdio') return (tier === 'app' ? remote.app : remote.user)(target, hooks)
      assertMayRun(stdioPolicy, tier)
      if (!stdio) throw new HostError('stdio-refused', { detail: 'This host has no way to run a command.' })
      return stdio.open(target, hooks)
    },
    processes: () => stdio?.processes?.() ?? 0,
    async close() {
      await stdio?.close()
      await close?.()
    },
  }
}

function openGiven(target: ConnectionTarget, hooks: ConnectionHooks): Promise<Connection> {
  const transport = target.transport as Transport
  return openSession({ transport, kind: 'given', target, hooks, clientVersion: '0.1.0' })
}

/** The policy, for every route that can connect. What the operator set up at the app tier is the operator's own word. */
export function assertMayRun(policy: StdioPolicy, tier: Tier): void {
  if (tier === 'app' || policy === 'on') return
  const why = {
    off: 'The operator has switched off stdio servers.',
    templates: 'The operator allows only prepared command lines, and this is not one of them.',
    sandbox: 'The operator allows stdio servers only in a sandbox, and none is available.',
  }[policy]
  throw new HostError('stdio-refused', { detail: why })
}
