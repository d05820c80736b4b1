/** The tasks of an app, written as the documentation writes them. */
import { afterEach, describe, expect, it } from 'vitest'
import { startCountingServer } from '../../../test/counting-server.ts'
import { createExecutionContext, createHost, defineTool, defineWorkflow, type Host, rule } from '../src/index.ts'
import { setupToolkits, withExecutionContext } from '../src/node.ts'

let host: Host
afterEach(() => host.close())

const list = defineTool({ name: 'list', annotations: { readOnlyHint: true }, execute: () => 'a.txt' })
const write = defineTool({ name: 'write', execute: () => 'written' })
const files = { name: 'files', tools: [list, write] }

describe('a user scope', () => {
  it('adds a toolkit for one user and calls its tool by ref', async () => {
    host = createHost()
    const ann = host.user('ann')
    await ann.toolkits.add(files)
    expect(await ann.call('files.list')).toMatchObject({ status: 'ok', content: [{ text: 'a.txt' }] })
    expect(await host.user('bob').toolkits.list()).toEqual([])
    expect(await host.user('bob').call('files.list')).toMatchObject({ status: 'failed' })
  })

  it('offers toolkits of the app to every user', async () => {
    host = createHost({ policy: { rules: [rule('*', 'allow')] } })
    await host.toolkits.add(files)
    for (const id of ['ann', 'bob']) expect(await host.user(id).call('files.list')).toMatchObject({ status: 'ok' })
    expect((await host.toolkits.list()).map(({ toolkit }) => toolkit.id)).toEqual(['files'])
  })

  it('gives the approval request of a running call and continues it when the user allows it', async () => {
    host = createHost({ policy: { rules: [rule('files.write', 'ask')] } })
    const ann = host.user('ann')
    await ann.toolkits.add(files)
    const call = ann.call('files.write')
    const approval = await call.approval
    expect((await ann.approvals.list({ status: 'pending' })).map(({ id }) => id)).toEqual([approval.id])
    await ann.approvals.allow(approval.id, { remember: 'tool' })
    expect(await call).toMatchObject({ status: 'ok' })
    expect(await ann.call('files.write')).toMatchObject({ status: 'ok' })
    const [grant] = await ann.grants.list()
    expect(grant).toMatchObject({ ref: 'files.write', decision: 'allow' })
    await ann.grants.revoke(grant?.id ?? '')
    expect(await ann.grants.list()).toEqual([])
  })

  it('denies a call with an approval request that the user denies', async () => {
    host = createHost({ policy: { rules: [rule('files.write', 'ask')] } })
    const ann = host.user('ann')
    await ann.toolkits.add(files)
    const call = ann.call('files.write')
    await ann.approvals.deny((await call.approval).id)
    expect(await call).toMatchObject({ status: 'denied', error: { code: 'denied' } })
  })

  it('makes a call with an idempotency key once and gives its stored outcome later', async () => {
    host = createHost({ policy: { rules: [rule('*', 'allow')] } })
    let made = 0
    const ann = host.user('ann')
    await ann.toolkits.add({ name: 'counter', tools: [defineTool({ name: 'next', execute: () => `${++made}` })] })
    const options = { idempotencyKey: 'may', background: true as const }
    const { callId } = await ann.call('counter.next', {}, options)
    expect(await ann.call('counter.next', {}, options)).toEqual({ callId })
    expect(await ann.calls.wait(callId, { untilOver: true })).toMatchObject({ outcome: { status: 'ok' } })
    expect(await ann.call('counter.next', {}, { idempotencyKey: 'may' })).toMatchObject({ content: [{ text: '1' }] })
    expect(made).toBe(1)
  })

  it('selects tools for a prompt in a thread', async () => {
    host = createHost({ policy: { rules: [rule('*', 'allow')] } })
    const ann = host.user('ann')
    await ann.toolkits.add(files)
    const thread = ann.thread('t')
    await thread.activate('files')
    const { tools } = await thread.select({ prompt: 'list my files' })
    expect(tools.map(({ entry }) => entry.ref)).toContain('files.list')
    await thread.rules.set([rule('files.list', 'deny')])
    expect(await thread.call({ name: 'files.list', arguments: {} })).toMatchObject({ status: 'denied' })
    expect(await ann.call('files.list')).toMatchObject({ status: 'ok' })
  })

  it('runs a workflow and waits for its run', async () => {
    host = createHost({ policy: { rules: [rule('*', 'allow')] } })
    const ann = host.user('ann')
    await ann.toolkits.add(files)
    const report = defineWorkflow({ name: 'Report', nodes: [{ id: 'list', type: 'tool', ref: 'files.list' }] })
    const { id } = await ann.workflows.create(report)
    const run = await ann.workflows.start(id, {})
    expect(await ann.runs.wait(run.id)).toMatchObject({ status: 'completed' })
  })

  it('deletes everything of one user and nothing of another', async () => {
    host = createHost()
    for (const id of ['ann', 'bob']) await host.user(id).toolkits.add(files)
    expect((await host.user('ann').delete()).rows).toBeGreaterThan(0)
    expect(await host.user('ann').toolkits.list()).toEqual([])
    expect(await host.user('bob').toolkits.list()).toHaveLength(1)
  })

  it('rejects a ref that is not "toolkit.tool" and an empty user id', () => {
    host = createHost()
    expect(() => host.user('ann').call('files')).toThrow(expect.objectContaining({ code: 'invalid-input' }))
    expect(() => host.user('')).toThrow(expect.objectContaining({ code: 'invalid-input' }))
  })
})

describe('a host', () => {
  it('sets up a session with its own servers and closes it', async () => {
    host = createHost({ policy: { rules: [rule('*', 'allow')] }, toolkits: { tools: [list] } })
    const context = createExecutionContext({ principal: { kind: 'session', userId: 'ann' } })
    await using session = await host.session(context, { toolkits: ['app'] })
    expect(await session.call({ name: 'app.list', arguments: {} })).toMatchObject({ status: 'ok' })
    expect((await session.select({ prompt: 'list' })).tools.length).toBeGreaterThan(0)
  })

  it('sets up a session in the ambient context', async () => {
    host = createHost({ policy: { rules: [rule('*', 'allow')] }, toolkits: { tools: [list] } })
    await withExecutionContext({ principal: { kind: 'session', userId: 'ann' } }, async () => {
      await using session = await setupToolkits(host, ['app'])
      expect(await session.call({ name: 'app.list', arguments: {} })).toMatchObject({ status: 'ok' })
    })
  })

  it('discovers tools without registering a toolkit', async () => {
    host = createHost()
    const server = await startCountingServer('numbers', [{ name: 'next' }])
    try {
      const { tools } = await host.toolkits.discover({ name: 'numbers', url: server.url })
      expect(tools.map(({ name }) => name)).toEqual(['next'])
      expect(await host.toolkits.list()).toEqual([])
    } finally {
      await server.close()
    }
  })

  it('reports its status and previews decisions', async () => {
    host = createHost({ policy: { rules: [rule('files.write', 'deny')] } })
    await host.toolkits.add(files)
    await host.user('ann').toolkits.refresh('files')
    expect(await host.ops.status()).toMatchObject({ storage: 'memory', connections: [] })
    const decisions = await host.policy.preview('ann', 'files')
    expect(decisions.find(({ ref }) => ref === 'files.write')).toMatchObject({ decision: 'deny' })
  })

  it('rejects wrong options with the path of each', () => {
    host = createHost()
    const wrong = { polcy: {}, policy: { rule: [] }, runtime: { processLeaseMs: 'long' }, toolkits: { tools: {} } }
    expect(() => createHost(wrong as never)).toThrow(
      expect.objectContaining({
        code: 'config-invalid',
        errors: expect.arrayContaining([
          expect.objectContaining({ path: 'polcy' }),
          expect.objectContaining({ path: 'policy.rule' }),
          expect.objectContaining({ path: 'runtime.processLeaseMs' }),
          expect.objectContaining({ path: 'toolkits.tools' }),
        ]),
      }),
    )
  })
})
