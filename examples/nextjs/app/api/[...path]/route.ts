import { createApp } from '@loadout/server'
import { host, models } from '../../../lib/host.ts'
import { userOf } from '../../../lib/session.ts'

const authenticate = (request: Request) => {
  const userId = userOf(request)
  return userId === undefined ? undefined : { kind: 'session' as const, userId }
}
const { fetch } = createApp({ host, models, authenticate })

export { fetch as DELETE, fetch as GET, fetch as PATCH, fetch as POST, fetch as PUT }
