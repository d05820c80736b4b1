/** Source 001's table of benefits, each row that concerns tiers; and what removal promises. */

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { programPath } from '../../../test/program-path.ts'
import { EVERYTHING } from '../../../test/real-servers.ts'
import { nodeDrivers } from '../src/connections/node-drivers.ts'
import { createExecutionContext } from '../src/context.ts'
import { createServices, type HostServices } from '../src/host/create-services.ts'
import { rule } from '../src/policy/rules.ts'

const FAULTY = programPath(fileURLToPath(new URL('./fixtures/fault-stdio.ts', import.meta.url)))
const node = process.execPath
const ann = { tier: 'user', userId: 'ann' } as const
const bob = { tier: 'user', userId: 'bob' } as const
const everything = { name: 'Everything', command: node, args: [EVERYTHING] }

let folder: string
let host: HostServices
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'loadout-tiers-'))
  host = createServices({ policy: [rule('*', 'allow')], drivers: nodeDrivers({ baseEnv: { PATH: '/usr/bin:/bin' } }) })
})
afterEach(async () => {
  await host.close()
  await rm(folder, { recursive: true, force: true })
})
/** What two servers have is there once both were looked at: whoever takes longer than the first is not waited for. */
const looked = async (...users: string[]) => {
  for (const userId of users) await host.warm({ userId })
}
const thread = (userId: string, threadId = 't') => host.thread({ userId, threadId })
const refs = async (userId: string, threadId?: string) =>
  (await thread(userId, threadId).loadout()).tools.map(({ ref }) => ref)

describe('toolkit tiers (benefits of source 001)', () => {
  it('add, update and remove a server at runtime without a restart', async () => {
    expect(await refs('ann')).toEqual([])
    await host.toolkits.register(everything, ann)
    expect(await refs('ann')).toContain('everything.echo')
    await host.toolkits.update('everything', { exclude: ['echo'] }, ann)
    expect(await refs('ann')).not.toContain('everything.echo')
    await host.toolkits.remove('everything', ann)
    expect(await refs('ann')).toEqual([])
  })

  it('hide the servers of a user from other users', async () => {
    await host.toolkits.register({ ...everything, name: 'kb' }, { tier: 'app' })
    await host.toolkits.register({ ...everything, name: 'mine' }, ann)
    await looked('ann', 'bob')
    expect(new Set((await refs('ann')).map((ref) => ref.split('.')[0]))).toEqual(new Set(['kb', 'mine']))
    expect(new Set((await refs('bob')).map((ref) => ref.split('.')[0]))).toEqual(new Set(['kb']))
    const call = { name: 'mine.echo', arguments: { message: 'x' } }
    expect(await thread('bob').call(call)).toMatchObject({ status: 'failed', error: { code: 'tool-not-found' } })
  })

  it('activate servers per thread', async () => {
    await host.toolkits.register({ ...everything, name: 'work-slack' }, ann)
    await host.toolkits.register({ ...everything, name: 'my-linkedin' }, ann)
    await looked('ann')
    await thread('ann', 'job-hunt').use(['my-linkedin'])
    expect(new Set((await refs('ann', 'job-hunt')).map((ref) => ref.split('.')[0]))).toEqual(new Set(['my-linkedin']))
    expect((await refs('ann', 'work')).some((ref) => ref.startsWith('work-slack.'))).toBe(true)
  })

  it('isolate credentials per user, also for the same server and field', async () => {
    const withKey = (key: string) => ({ ...everything, env: { ACCOUNT: key } })
    await host.toolkits.register(withKey('key of ann'), ann)
    await host.toolkits.register(withKey('key of bob'), bob)
    const env = async (userId: string) =>
      JSON.stringify(await thread(userId).call({ name: 'everything.get-env', arguments: {} }))
    const [mine, theirs] = await Promise.all([env('ann'), env('bob')])
    expect([mine.includes('key of ann'), mine.includes('key of bob')]).toEqual([true, false])
    expect([theirs.includes('key of ann'), theirs.includes('key of bob')]).toEqual([false, true])
  })

  it('isolate tenants that use the same ids', async () => {
    await host.toolkits.register({ ...everything, account: 'a' }, ann)
    await host.toolkits.register({ ...everything, account: 'b' }, bob)
    await thread('ann', 'same').use([])
    expect(await refs('ann', 'same')).toEqual([])
    expect(await refs('bob', 'same')).toContain('everything.echo')
    await host.toolkits.remove('everything', ann)
    expect(await refs('bob', 'same')).toContain('everything.echo')
  })

  it('start empty with zero configuration', async () => {
    expect(await host.toolkits.app()).toEqual([])
    expect((await thread('ann').loadout()).entries).toEqual([])
  })
})

describe('a removed toolkit', () => {
  it('finishes calls in flight, stops its process, unloads its tools and clears its credentials', async () => {
    const [script, log] = [join(folder, 'slow'), join(folder, 'log')]
    await writeFile(script, JSON.stringify({ at: { 'tools/call': { do: 'delay', ms: 700 } } }))
    await writeFile(log, '')
    const { stored } = await host.toolkits.register(
      { name: 'slow', command: node, args: [FAULTY, script, log], env: { TOKEN: 's3cret' } },
      ann,
    )
    expect(await refs('ann')).toEqual(['slow.echo'])
    const reported: string[] = []
    host.events.on((event) => {
      if (event.type === 'toolkit-removed' || event.type === 'tool-unloaded') reported.push(event.type)
    })
    const call = thread('ann').call({ name: 'slow.echo', arguments: { text: 'still here' } })
    await expect.poll(() => readFile(log, 'utf8')).toBe('echo\n')
    const pid = host.connections.status()[0]?.diagnostics().pid as number
    await host.toolkits.remove('slow', ann)
    expect(await refs('ann')).toEqual([])
    expect(await host.credentials.open({ userId: 'ann', toolkit: stored.uscoId })).toEqual({})
    expect(reported).toEqual(['toolkit-removed', 'tool-unloaded'])
    expect(await call).toMatchObject({ status: 'ok', content: [{ text: expect.stringContaining('still here') }] })
    await expect.poll(() => isAlive(pid)).toBe(false)
    expect(host.connections.status()).toEqual([])
    const after = await host.calls.start({
      userId: 'ann',
      toolkit: 'slow',
      tool: 'echo',
      arguments: {},
      caller: { type: 'direct' },
    }).outcome
    expect(after).toMatchObject({ status: 'failed', error: { code: 'not-found' } })
  })

  it('reveals the app toolkit with the same id that it hid', async () => {
    await host.toolkits.register({ id: 'kb', name: 'App', tools: [tool('from_app')] }, { tier: 'app' })
    await host.toolkits.register({ id: 'kb', name: 'Mine', tools: [tool('from_ann')] }, ann)
    expect(await refs('ann')).toEqual(['kb.from_ann'])
    expect(await refs('bob')).toEqual(['kb.from_app'])
    expect((await host.views.list('ann')).map(({ name, shadows }) => [name, shadows])).toEqual([['Mine', 'app']])
    const hidden = (await thread('ann').explain()).find(({ ref }) => ref === 'kb.from_app')
    expect(hidden).toMatchObject({ included: false, tier: 'app' })
    expect(hidden?.reasons.some(({ kind }) => kind === 'shadowed')).toBe(true)
    await host.toolkits.remove('kb', ann)
    expect(await refs('ann')).toEqual(['kb.from_app'])
  })

  it('has an enabled state of its own, separate from the app toolkit with the same id', async () => {
    await host.toolkits.register({ id: 'kb', name: 'App', tools: [tool('from_app')] }, { tier: 'app' })
    await host.toolkits.setEnabled('ann', 'kb', false)
    expect(await refs('ann')).toEqual([])
    await host.toolkits.register({ id: 'kb', name: 'Mine', tools: [tool('from_ann')] }, ann)
    expect(await refs('ann')).toEqual(['kb.from_ann'])
    await host.toolkits.remove('kb', { tier: 'app' })
    expect(await refs('ann')).toEqual(['kb.from_ann'])
    await host.toolkits.remove('kb', ann)
    expect(await refs('ann')).toEqual([])
  })
})

describe('the error output of an operator server', () => {
  it('is visible to the operator and never to users in calls, events, setups or views', async () => {
    const words = 'cannot reach postgres://10.1.2.3/prod'
    const args = ['-e', `console.error('${words}'); process.exit(3)`]
    const reported: unknown[] = []
    host.events.on((event) => reported.push(event))
    const { stored } = await host.toolkits.register({ name: 'corp', command: node, args }, { tier: 'app' })
    const call = { userId: 'ann', toolkit: 'corp', tool: 'x', arguments: {}, caller: { type: 'direct' as const } }
    const outcome = await host.calls.start(call).outcome
    const context = createExecutionContext({ principal: { kind: 'session', userId: 'ann' } })
    const run = await host.setupToolkits(['corp'], { context })
    const message = 'error' in outcome ? outcome.error.message : ''
    expect(message).toBe('The server of "corp" failed; its operator can see why.')
    expect(run.failedToolkits).toMatchObject([{ id: 'corp', code: 'server-crashed' }])
    expect(JSON.stringify([message, run.failedToolkits, reported, await host.views.list('ann')])).not.toContain(
      '10.1.2.3',
    )
    const [now = stored] = await host.toolkits.app()
    expect(JSON.stringify(await host.views.asOperator(now))).toContain('10.1.2.3')
  })
})

const tool = (name: string) => ({ name, inputSchema: { type: 'object' }, execute: () => name })

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
