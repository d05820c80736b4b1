/** Denied tools are not listed, found or selected; a call of one reports the reason. */
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createExecutionContext } from '../context.ts'
import { createServices, type HostServices } from '../host/create-services.ts'
import { rule } from './rules.ts'

const ann = { userId: 'ann', threadId: 'work' }
const owner = { tier: 'user', userId: 'ann' } as const
const tool = (name: string, annotations?: object) => ({
  name,
  description: `To ${name.replaceAll('_', ' ')}.`,
  inputSchema: { type: 'object' },
  ...(annotations ? { annotations } : {}),
  execute: () => `did ${name}`,
})
const tools = [tool('delete_repo'), tool('list_repos', { readOnlyHint: true }), tool('create_repo')]

let host: HostServices
const start = async (options: Parameters<typeof createServices>[0] = {}) => {
  host = createServices(options)
  await host.toolkits.register({ name: 'kit', tools }, owner)
}
beforeEach(() => start({ policy: [rule('kit.delete_repo', 'deny')] }))
afterEach(() => host.close())

const explained = async (options = {}) =>
  Object.fromEntries((await host.thread(ann).explain(options)).map(({ ref, ...more }) => [ref, more]))
const refs = async () => (await host.thread(ann).loadout()).tools.map(({ ref }) => ref)

describe('a tool that a rule denies', () => {
  it('is not available, selected or found, and explain gives the reason', async () => {
    expect(await refs()).toEqual(['kit.list_repos', 'kit.create_repo'])
    expect((await explained())['kit.delete_repo']).toEqual({
      modelName: 'mcp_kit_delete_repo',
      tier: 'user',
      included: false,
      reasons: [
        { kind: 'tier', speaks: 'for', tier: 'user', detail: 'The toolkit belongs to the user tier.' },
        { kind: 'policy', speaks: 'against', tier: 'app', detail: expect.stringContaining('"kit.delete_repo"') },
      ],
    })
    const selection = await host.thread(ann).select({ prompt: 'delete the repository' })
    expect(JSON.stringify(selection)).not.toContain('delete_repo')
    const found = await selection.call({ name: 'search_tools', arguments: { query: 'delete the repository' } })
    expect(JSON.stringify(found)).not.toContain('delete_repo')
    expect((await host.search({ userId: 'ann' }, 'delete repo')).tools.map(({ ref }) => ref)).not.toContain(
      'kit.delete_repo',
    )
  })

  it('is denied with the rule as reason when it is called by name or by ref', async () => {
    for (const name of ['kit.delete_repo', 'mcp_kit_delete_repo'])
      expect(await host.thread(ann).call({ name, arguments: {} })).toMatchObject({
        status: 'denied',
        error: { code: 'denied', message: expect.stringContaining('"kit.delete_repo"') },
      })
    await host.threads.update('ann', (await host.threads.create('ann', { id: 'work' })).id, {
      settings: { limits: { maxTools: 1 } },
    })
    const crowded = await host.thread(ann).call({ name: 'kit.delete_repo', arguments: {} })
    expect(crowded).toMatchObject({ error: { code: 'denied' } })
    expect(await refs()).toEqual(['kit.list_repos'])
  })

  it('changes with the rules of the user and the thread and with grants', async () => {
    await host.rules.set({ userId: 'ann' }, [rule('kit.create_repo', 'deny')])
    expect(await refs()).toEqual(['kit.list_repos'])
    await host.rules.set({ userId: 'ann' }, [])
    await host.rules.set(ann, [rule('kit', { readOnly: true }, 'deny')])
    expect(await refs()).toEqual(['kit.create_repo'])
    await host.rules.set(ann, [])
    const grant = await host.decisions.remember('ann', 'kit.create_repo', 'deny')
    expect(await refs()).toEqual(['kit.list_repos'])
    expect((await explained())['kit.create_repo']?.reasons.at(-1)).toMatchObject({ kind: 'policy', tier: 'user' })
    await host.grants.revoke('ann', grant.id)
    expect(await refs()).toEqual(['kit.list_repos', 'kit.create_repo'])
  })

  it('stays available to other users', async () => {
    await host.rules.set({ userId: 'ann' }, [rule('*', 'deny')])
    await host.toolkits.register({ name: 'kit', tools }, { tier: 'user', userId: 'bob' })
    expect(await refs()).toEqual([])
    expect((await host.thread({ userId: 'bob', threadId: 'work' }).loadout()).tools).toHaveLength(2)
  })

  it('for one caller stays available to the other caller', async () => {
    await host.close()
    await start({ policy: [rule('kit.delete_repo', { caller: 'direct' }, 'deny')] })
    const { tools: all } = await host.thread(ann).loadout()
    expect(all.find(({ tool: name }) => name === 'delete_repo')?.allowedCallers).toEqual(['code'])
    const selection = await host.thread(ann).select({ prompt: 'delete the repository' })
    expect(JSON.stringify(selection)).not.toContain('delete_repo')
    const served = await host.thread(ann).select({ prompt: 'delete the repository', callers: ['code', 'direct'] })
    expect(JSON.stringify(served.tools)).toContain('delete_repo')
  })

  it('is not available either when the call brings its toolkit', async () => {
    await host.rules.set({ userId: 'ann' }, [rule('along.pay', 'deny')])
    const principal = { kind: 'session' as const, userId: 'ann' }
    const listed = ['pay', 'look'].map((name) => ({ name, inputSchema: { type: 'object' as const } }))
    const along = { url: 'https://along.invalid/mcp', tools: listed }
    const context = createExecutionContext({ principal, mcp: { toolkits: { along } } })
    await using setup = await host.setupToolkits(['along', 'kit'], { context })
    expect(setup.loadout.tools.map(({ ref }) => ref)).toEqual(['along.look', 'kit.list_repos', 'kit.create_repo'])
    expect(await setup.call({ name: 'along.pay', arguments: {} })).toMatchObject({ error: { code: 'denied' } })
  })
})

describe('explain', () => {
  it('shows which tools are allowed and which need approval, including grants', async () => {
    const words = async () => {
      const all = await explained()
      return ['kit.list_repos', 'kit.create_repo'].map((ref) => all[ref]?.reasons.at(-1))
    }
    expect(await words()).toMatchObject([
      { kind: 'policy', speaks: 'for', detail: 'It may be called. The tool says that it only reads.' },
      { kind: 'policy', speaks: 'for', detail: expect.stringMatching(/^It is asked first\./) },
    ])
    await host.decisions.remember('ann', 'kit.create_repo', 'allow')
    expect(await words()).toMatchObject([{}, { detail: expect.stringMatching(/^It may be called\. You allowed/) }])
    expect((await host.thread(ann).loadout()).tools[0]?.reasons).toHaveLength(1)
  })

  it('shows with a prompt how well each tool matches', async () => {
    const all = await explained({ prompt: 'list the repos' })
    expect(all['kit.list_repos']?.reasons.at(-1)).toMatchObject({
      kind: 'search',
      speaks: 'for',
      detail: expect.stringMatching(/rank 1, with a score of [01]\.\d\d\.$/),
    })
    expect(all['kit.delete_repo']?.reasons.at(-1)).toMatchObject({ kind: 'policy' })
  })
})

it('available tools are exactly those that the call decision does not deny, under any rules', async () => {
  const pattern = fc.constantFrom('*', 'kit', 'kit.*_repo', 'kit.delete_repo', 'k*.{list,create}_*', 'other')
  const when = fc.record(
    { caller: fc.constantFrom('direct', 'code'), readOnly: fc.boolean(), destructive: fc.boolean() },
    { requiredKeys: [] },
  )
  const rules = fc.array(fc.record({ pattern, when, decision: fc.constantFrom('allow', 'ask', 'deny') }), {
    maxLength: 4,
  })
  await host.close()
  await start({ policy: [] })
  const stored = await host.toolkits.find('ann', 'kit')
  await refs()
  await fc.assert(
    fc.asyncProperty(rules, rules, rules, async (app, user, thread) => {
      await host.rules.set({}, app)
      await host.rules.set({ userId: 'ann' }, user)
      await host.rules.set(ann, thread)
      const { entries } = await host.thread(ann).loadout()
      for (const caller of ['direct', 'code'] as const)
        for (const entry of entries) {
          const isVisible = entry.included && entry.allowedCallers.includes(caller)
          const call = { ...ann, toolkit: stored.uscoId, tool: entry.tool, arguments: {}, caller: { type: caller } }
          const running = host.calls.start({ ...call, signal: AbortSignal.timeout(2000) })
          const answering = running.pending.then(async ({ id }) => {
            await host.approvals.answer('ann', id, { decision: 'allow' })
          })
          const outcome = await running.outcome
          void answering
          expect([entry.ref, caller, outcome.status !== 'denied']).toEqual([entry.ref, caller, isVisible])
        }
    }),
    { numRuns: 40 },
  )
})
