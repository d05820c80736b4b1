/** A process that a server detaches is named when the server ends (N9). */
import { expect, it } from 'vitest'
import { quirkyHost } from '../../../test/fixtures/quirky-host.ts'
import type { LeftProcess } from './left-processes.ts'

it('names a daemon that outlives its server, and nothing of a server without one', async () => {
  const reported: LeftProcess[] = []
  const world = quirkyHost({ onLeftProcesses: (left) => void reported.push(...left) })
  const server = await world.add('daemon', { daemon: true })
  await world.add('plain', {})
  await world.introspect('daemon')
  await world.introspect('plain')
  await world.host.connections.close()
  const pid = Number(
    server
      .methods()
      .find((method) => method.startsWith('daemon'))
      ?.split(' ')[1],
  )
  expect(reported).toEqual([{ pid, program: process.execPath, command: process.execPath }])
  process.kill(pid)
  await world[Symbol.asyncDispose]()
})
