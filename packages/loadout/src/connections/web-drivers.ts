/** Drivers for every runtime: remote servers through the runtime's own fetch, and no commands. */
import type { FetchLike } from '@modelcontextprotocol/client'
import { HostError } from '../errors.ts'
import type { OpenConnection } from './connection.ts'
import { createDrivers, type Drivers } from './drivers.ts'

export interface WebDriverOptions {
  clientVersion?: string
  /**
   * Whether users' servers may have any address that this runtime reaches, including its private network. These drivers
   * check no addresses.
   * @default true in a browser only, where the network is the user's own
   */
  unguarded?: boolean
}

export function webDrivers({ clientVersion = '0.1.0', unguarded = isBrowser() }: WebDriverOptions = {}): Drivers {
  const runtimeFetch: FetchLike = (input, init) => fetch(input, init)
  // The SDK loads with the first connection.
  const open: OpenConnection = async (target, hooks) => {
    const { httpConnections } = await import('./http/http.ts')
    return httpConnections({ fetch: runtimeFetch, clientVersion })(target, hooks)
  }
  return createDrivers({
    stdioRules: { policy: 'off' },
    remote: { user: unguarded ? open : refuse, app: open },
    fetch: { user: runtimeFetch, app: runtimeFetch },
  })
}

/** Without an address guard, users' servers are refused. */
const refuse: OpenConnection = async () => {
  throw new HostError('address-blocked', {
    detail: 'This host has no guard that judges the addresses of users’ servers, so it connects to none of them.',
    action:
      'Give createHost `drivers: nodeDrivers()` of loadout/node, or `drivers: webDrivers({ unguarded: true })` where any address may be reached.',
  })
}

/** Whether this runs in a page or in one of its workers. */
const isBrowser = () => 'document' in globalThis || 'WorkerLocation' in globalThis
