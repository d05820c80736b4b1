/** A server that wants to be kept is: its connection idles as long as its toolkit says, and others as usual. */
import { afterEach, expect, it } from 'vitest'
import { type RunningServer, startHttpServer } from '../../../../test/real-servers.ts'
import { nodeDrivers } from '../../src/connections/node-drivers.ts'
import { createServices, type HostServices } from '../../src/host/create-services.ts'
import { rule } from '../../src/policy/rules.ts'

let host: HostServices
let server: RunningServer
afterEach(async () => {
  await host.close()
  await server.close()
})

it('timeouts.idleMs of a toolkit overrides the pool idle timeout', async () => {
  server = await startHttpServer('legacy')
  host = createServices({
    policy: [rule('*', 'allow')],
    drivers: nodeDrivers({ guard: { privateNetwork: true } }),
    pool: { idleMs: 100 },
  })
  const ann = { tier: 'user', userId: 'ann' } as const
  await host.toolkits.register({ name: 'usual', url: server.url }, ann)
  await host.toolkits.register({ name: 'kept', url: server.url, timeouts: { idleMs: 60_000 } }, ann)
  await host.toolkits.register({ name: 'brief', url: server.url, timeouts: { idleMs: 1 } }, ann)
  for (const toolkit of ['usual', 'kept', 'brief']) {
    const request = {
      userId: 'ann',
      toolkit,
      tool: 'echo',
      arguments: { text: 'a' },
      caller: { type: 'direct' } as const,
    }
    expect(await host.calls.start(request).outcome).toMatchObject({ status: 'ok' })
  }
  const open = () => host.connections.status().map(({ toolkit }) => toolkit)
  await expect.poll(open).toEqual(['kept'])
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(open()).toEqual(['kept'])
})
