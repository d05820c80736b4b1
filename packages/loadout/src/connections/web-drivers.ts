import { createDrivers, type Drivers } from './drivers.ts'
import { httpConnections } from './http.ts'

/** What every runtime has: remote servers by its own fetch, and no commands. */
export function webDrivers({ clientVersion = '0.1.0' } = {}): Drivers {
  const open = httpConnections({ fetch: (input, init) => fetch(input, init), clientVersion })
  return createDrivers({ stdioPolicy: 'off', remote: { user: open, app: open } })
}
