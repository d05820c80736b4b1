/** A toolkit that is removed while its server does not answer is not waited for. */
import { expect, it } from 'vitest'
import { provenWithin } from '../../../../../test/prove/work.ts'
import { createServices } from '../../host/create-services.ts'
import { nodeDrivers } from '../node-drivers.ts'

const ann = { tier: 'user', userId: 'ann' } as const
const silent = { name: 'silent', command: process.execPath, args: ['-e', 'setInterval(() => {}, 1000)'] }

it('closing a host does not wait for a server that never answers', async () => {
  const host = createServices({ drivers: nodeDrivers({ stdio: 'on' }) })
  const { stored } = await host.toolkits.register(silent, ann)
  const rejection = expect(host.catalog.introspect(stored, 'ann')).rejects.toMatchObject({ code: 'shutting-down' })
  await expect.poll(() => host.connections.counts()).toMatchObject({ processes: 1, connections: { connecting: 1 } })
  await host.close()
  await rejection
})

it('removing a toolkit ends its starting process and rejects waiting callers', async () => {
  await using host = createServices({ drivers: nodeDrivers({ stdio: 'on' }) })
  const { stored } = await host.toolkits.register(silent, ann)
  const looking = host.catalog.introspect(stored, 'ann')
  const rejection = expect(looking).rejects.toMatchObject({ code: 'cancelled' })
  await expect.poll(() => host.connections.counts()).toMatchObject({ processes: 1, connections: { connecting: 1 } })
  // A handshake that took all of its time would end with a timeout, and not so.
  await provenWithin(5000, async () => {
    await host.toolkits.remove(stored.uscoId, ann)
    await rejection
  })
  await expect.poll(() => host.connections.counts().processes).toBe(0)
})
