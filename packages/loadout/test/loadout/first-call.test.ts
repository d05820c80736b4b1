/** The first call of a toolkit that was just registered, beside others that are known: it is not missing, it was not looked at yet. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { provenWithin } from '../../../../test/prove/work.ts'
import { EVERYTHING } from '../../../../test/real-servers.ts'
import { nodeDrivers } from '../../src/connections/node-drivers.ts'
import { createServices, type HostServices } from '../../src/host/create-services.ts'
import { mayBeOf, toolModelName } from '../../src/loadout/model-name.ts'
import { rule } from '../../src/policy/rules.ts'

const owner = { tier: 'user' as const, userId: 'ann' }
let host: HostServices
const thread = () => host.thread({ userId: 'ann', threadId: 'thread' })

beforeEach(async () => {
  host = createServices({ policy: [rule('*', 'allow')], drivers: nodeDrivers({ baseEnv: { PATH: '/usr/bin:/bin' } }) })
  await host.ready()
  const known = { name: 'known', description: 'Known.', inputSchema: { type: 'object' }, execute: () => 'known' }
  await host.toolkits.register({ id: 'kit', name: 'Kit', tools: [known] }, owner)
  await host.toolkits.register({ name: 'Everything', command: process.execPath, args: [EVERYTHING] }, owner)
})
afterEach(() => host.close())

it.each(['everything.echo', 'mcp_everything_echo'])('a call of %s works right after the registration', async (name) => {
  const expected = { status: 'ok', content: [{ type: 'text', text: 'Echo: hi' }] }
  expect(await thread().call({ name, arguments: { message: 'hi' } })).toMatchObject(expected)
})

it('a new toolkit is available to later threads once it is warmed', async () => {
  expect(await host.warm({ userId: 'ann' })).toContainEqual({ id: 'everything', status: 'connected' })
  const { tools } = await thread().loadout()
  expect(tools.map(({ ref }) => ref)).toEqual(expect.arrayContaining(['kit.known', 'everything.echo']))
})

it('a server that never answers does not delay other toolkits', async () => {
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

it('a tool name may belong to a toolkit if it starts like the names of that toolkit', () => {
  const long = 'k'.repeat(60)
  for (const [toolkit, tool] of [
    ['a', 'b'],
    ['a', 'b c'],
    [long, 'x'.repeat(100)],
  ] as const) {
    expect(mayBeOf(toolkit, toolModelName(toolkit, tool))).toBe(true)
    expect(mayBeOf(toolkit, `${toolkit}.${tool}`)).toBe(true)
  }
  expect([mayBeOf('a', 'ab.c'), mayBeOf('ab', 'mcp_a_b')]).toEqual([false, false])
})
