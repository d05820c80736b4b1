import type { FetchLike } from '@modelcontextprotocol/client'
import { createDrivers, type Drivers } from './drivers.ts'
import { httpConnections } from './http.ts'

/** What every runtime has: remote servers by its own fetch, and no commands. */
export function webDrivers({ clientVersion = '0.1.0' } = {}): Drivers {
  const own: FetchLike = (input, init) => fetch(input, init)
  const open = httpConnections({ fetch: own, clientVersion })
  return createDrivers({
    stdioRules: { policy: 'off' },
    remote: { user: open, app: open },
    fetch: { user: own, app: own },
  })
}
