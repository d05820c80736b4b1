import { HostError } from '../../errors.ts'
import type { Interference } from './faults.ts'

export interface ListenOptions {
  /** Sees each message before the server does. */
  onMessage(message: unknown): Promise<Interference | undefined>
}

/** A listening transport. `server` has the fields of a toolkit that reach it. */
export interface Listener {
  server: { url: string } | { command: string; args: string[] }
  close(): Promise<void>
}

/** The SDK is an optional peer, and suites of the same entry run in browsers, so it is loaded when a server starts. */
export const loadSdk = () =>
  import('@modelcontextprotocol/server').catch((cause: unknown) => {
    throw new HostError('invalid-input', {
      detail: 'Test servers need the package `@modelcontextprotocol/server`, which is not installed.',
      action: 'Install it: npm install --save-dev @modelcontextprotocol/server',
      cause,
    })
  })
