import { expect, it } from 'vitest'
import type { Definition } from '../definition/definition.ts'
import { failedServers } from './failed-servers.ts'

const failed = ['mail', 'files', 'web', 'clock', 'dies'].map((id) => ({ id, reason: 'It ended.' }))
const definition: Definition = {
  name: 'one',
  brings: ['clock'],
  nodes: [
    { id: 'a', type: 'tool', ref: 'mail.send' },
    { id: 'b', type: 'code', program: '', tools: ['files.read'] },
    { id: 'c', type: 'agent', prompt: '', tools: ['web.*'] },
  ],
}
const ids = (servers: ReadonlyArray<{ id: string }>) => servers.map(({ id }) => id)

it('failedServers separates the servers that a run names from the others', () => {
  const { named, others } = failedServers(failed, definition)
  expect(ids(named)).toEqual(['mail', 'files', 'web', 'clock'])
  expect(ids(others)).toEqual(['dies'])
})

it('failedServers treats all servers as named after a program run', () => {
  expect(ids(failedServers(failed, undefined).named)).toHaveLength(5)
})
