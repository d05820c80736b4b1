/** A process that a server detaches is named when the server ends (N9). */
import { expect, it } from 'vitest'
import { imitated } from '../../../test/fixtures/imitated.ts'
import type { LeftProcess } from './left-processes.ts'

it('names a daemon that outlives its server, and nothing of a server without one', async () => {
  const told: LeftProcess[] = []
  const world = imitated({ onLeftProcesses: (left) => void told.push(...left) })
  const heard = await world.add('daemon', { daemon: true })
  await world.add('plain', {})
  await world.introspect('daemon')
  await world.introspect('plain')
  await world.host.connections.close()
  const pid = Number(
    heard
      .methods()
      .find((method) => method.startsWith('daemon'))
      ?.split(' ')[1],
  )
  expect(told).toEqual([{ pid, program: process.execPath, command: process.execPath }])
  process.kill(pid)
  await world[Symbol.asyncDispose]()
})
