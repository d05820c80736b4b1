/** The first call of a toolkit that was just registered, beside others that are known: it is not missing, it was not looked at yet. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { provenWithin } from '../../../../test/prove/work.ts'
import { EVERYTHING } from '../../../../test/real-servers.ts'
import { nodeDrivers } from '../connections/node-drivers.ts'
import { createHost, type Host } from '../host.ts'
import { rule } from '../policy/rule.ts'
import { mayBeOf, modelName } from './model-name.ts'

const owner = { tier: 'user' as const, userId: 'ann' }
let host: Host
const thread = () => host.thread({ userId: 'ann', threadId: 'thread' })

beforeEach(async () => {
  host = createHost({ policy: [rule('*', 'allow')], drivers: nodeDrivers({ baseEnv: { PATH: '/usr/bin:/bin' } }) })
  await host.ready()
  const known = { name: 'known', description: 'Known.', inputSchema: { type: 'object' }, execute: () => 'known' }
  await host.toolkits.register({ id: 'kit', name: 'Kit', tools: [known] }, owner)
  await host.toolkits.register({ name: 'Everything', command: process.execPath, args: [EVERYTHING] }, owner)
})
afterEach(() => host.close())

it.each(['everything.echo', 'mcp_everything_echo'])('%s is called at once', async (name) => {
  const said = { status: 'ok', content: [{ type: 'text', text: 'Echo: hi' }] }
  expect(await thread().call({ name, arguments: { message: 'hi' } })).toMatchObject(said)
})

it('is there for all that follows once it was warmed, and nobody else is waited for', async () => {
  expect(await host.warm({ userId: 'ann' })).toContainEqual({ id: 'everything', status: 'connected' })
  const { tools } = await thread().loadout()
  expect(tools.map(({ ref }) => ref)).toEqual(expect.arrayContaining(['kit.known', 'everything.echo']))
})

it('a server that never answers keeps no other waiting', async () => {
  const args = ['-e', 'process.stdin.resume()']
  await host.toolkits.register({ name: 'Silent', command: process.execPath, args }, owner)
  await provenWithin(5000, async () => {
    expect(await thread().call({ name: 'kit.known', arguments: {} })).toMatchObject({ status: 'ok' })
    expect(await thread().call({ name: 'kit.unknown', arguments: {} })).toMatchObject({
      error: { code: 'tool-not-found' },
    })
  })
  // Whoever had waited for it would have waited until it failed.
  expect((await host.toolkits.find('ann', 'silent')).row.introspectionStatus).not.toBe('error')
})

it('a name may be of a toolkit where it begins as its names do', () => {
  const long = 'k'.repeat(60)
  for (const [toolkit, tool] of [
    ['a', 'b'],
    ['a', 'b c'],
    [long, 'x'.repeat(100)],
  ] as const) {
    expect(mayBeOf(toolkit, modelName(toolkit, tool))).toBe(true)
    expect(mayBeOf(toolkit, `${toolkit}.${tool}`)).toBe(true)
  }
  expect([mayBeOf('a', 'ab.c'), mayBeOf('ab', 'mcp_a_b')]).toEqual([false, false])
})
