import type { FetchLike } from '@modelcontextprotocol/client'
import { HostError } from '../errors.ts'
import type { OpenConnection } from './connection.ts'
import { createDrivers, type Drivers } from './drivers.ts'
import { httpConnections } from './http/http.ts'

export interface WebDriverOptions {
  clientVersion?: string
  /**
   * Whether users' servers may be anywhere that this runtime reaches, its own network too: nothing here judges addresses.
   * @default only in a browser, where the user's machine is all that there is
   */
  unguarded?: boolean
}

/** What every runtime has: remote servers by its own fetch, and no commands. */
export function webDrivers({ clientVersion = '0.1.0', unguarded = isBrowser() }: WebDriverOptions = {}): Drivers {
  const runtimeFetch: FetchLike = (input, init) => fetch(input, init)
  const open = httpConnections({ fetch: runtimeFetch, clientVersion })
  return createDrivers({
    stdioRules: { policy: 'off' },
    remote: { user: unguarded ? open : refuse, app: open },
    fetch: { user: runtimeFetch, app: runtimeFetch },
  })
}

/** A server that a user names is asked through a guard, or not at all. */
const refuse: OpenConnection = async () => {
  throw new HostError('address-blocked', {
    detail: 'This host has no guard that judges the addresses of users’ servers, so it connects to none of them.',
    action:
      'Give createHost `drivers: nodeDrivers()` of loadout/node, or `drivers: webDrivers({ unguarded: true })` where any address may be reached.',
  })
}

/** A page, or a worker of one. */
const isBrowser = () => 'document' in globalThis || 'WorkerLocation' in globalThis
