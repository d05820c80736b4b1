/**
 * Closes connections of changed or removed toolkits after their calls finish, also when another process made the
 * change. Emits changes by other processes once `start` was called.
 */
import type { Connector } from '../../connections/connector.ts'
import type { Emitter } from '../../events.ts'
import { APP_OWNER } from '../../schema/ids.ts'
import type { Access, Storage } from '../../storage/storage.ts'

export interface FollowToolkitsDeps {
  storage: Storage
  events: Emitter
  connections: Connector
}

export function followToolkits({ storage, events, connections }: FollowToolkitsDeps) {
  const stopEvents = events.on((event) => {
    if (event.type === 'toolkit-removed') void connections.retire(event.uscoId)
    if (event.type === 'toolkit-updated') void connections.reset(event.uscoId)
    // A user's switch for an app toolkit affects only this user.
    if (event.type === 'toolkit-switched') void connections.reset(event.uscoId, event.userId)
  })
  async function closeRemoved({ userId, id }: { userId: string; id: string }): Promise<void> {
    if (!connections.status().some(({ key }) => key.toolkit === id)) return
    const access: Access = userId === APP_OWNER ? { caller: 'app-config', userId } : { userId }
    const row = await storage.transaction(access, (tx) => tx.get('userServerConfigs', id))
    if (!row) await connections.retire(id)
  }
  let watching: Promise<() => void> | undefined
  return {
    start() {
      watching ??= storage.watch((change) => {
        if (change.kind !== 'row') return
        const { collection, userId, id } = change
        events.emit({ type: 'stored-changed', userId, collection, id })
        if (collection === 'userServerConfigs') void closeRemoved(change).catch(() => {})
      })
      return watching
    },
    async stop() {
      stopEvents()
      const unwatch = await watching?.catch(() => undefined)
      unwatch?.()
    },
  }
}
