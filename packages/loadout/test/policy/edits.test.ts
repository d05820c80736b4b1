/** What who approves sees, and what comes of an edit: all of it is shown, masks mean what they hide, secrets stay sealed. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { processKeyRing } from '../../src/credentials/aes-key-ring.ts'
import { createServices, type HostServices } from '../../src/host/create-services.ts'
import { rule } from '../../src/policy/rules.ts'
import { createKvStorage } from '../../src/storage/kv/kv-storage.ts'
import { memoryBackend } from '../../src/storage/kv/memory-backend.ts'
import type { Storage } from '../../src/storage/storage.ts'

const properties = {
  user: { type: 'string' },
  password: { type: 'string', minLength: 5 },
  note: { type: 'string' },
  list: { type: 'array', items: { type: 'object', properties: { pin: { type: 'string', writeOnly: true } } } },
}
let host: HostServices
let storage: Storage
let backend: ReturnType<typeof memoryBackend>
let calls: unknown[]
beforeEach(async () => {
  calls = []
  backend = memoryBackend()
  storage = createKvStorage({ name: 'memory', open: async () => backend })
  const execute = (input: unknown) => void calls.push(input)
  const tool = { name: 'send', inputSchema: { type: 'object', properties }, execute }
  host = createServices({ storage, tools: [tool] as never, policy: [rule('app.send', { allowEdits: true }, 'ask')] })
})
afterEach(() => host.close())

const start = (args: object) =>
  host.calls.start({
    userId: 'ann',
    toolkit: 'app',
    tool: 'send',
    arguments: args as never,
    caller: { type: 'direct' },
  })
const answer = (id: string, body: object) => host.approvals.answer('ann', id, { decision: 'allow', ...body })
const raw = async () => JSON.stringify(await backend.scan('approvals'))

describe('the arguments in an approval request', () => {
  it('are complete, with only secrets masked', async () => {
    const note = `${'x'.repeat(1000)} ghp_${'a1B2'.repeat(9)} then rm -rf /`
    const many = Array.from({ length: 200 }, (_, index) => ({ index, pin: `4711-${index}` }))
    let deep: object = { end: 'here' }
    for (let depth = 0; depth < 40; depth++) deep = { deep }
    const running = start({ user: 'ann', note, list: many, deep })
    const { arguments: shown, id } = await running.pending
    expect(shown.note).toBe(`${'x'.repeat(1000)} ••• then rm -rf /`)
    expect(shown.list).toEqual(many.map(({ index }) => ({ index, pin: '•••' })))
    expect(JSON.stringify(shown.deep)).toBe(JSON.stringify(deep))
    await answer(id, {})
    await running.outcome
    const { items } = await host.audit.list({ userId: 'ann' }, { outcome: 'started' })
    expect(JSON.stringify(items[0]?.detail).length).toBeLessThan(8000)
  })

  it('are rejected without a request when they exceed the size limit', async () => {
    await host.app.update({ limits: { argumentBytes: 500 } })
    expect(await start({ note: 'x'.repeat(600) }).outcome).toMatchObject({ status: 'limited' })
    expect(await host.approvals.list('ann')).toEqual([])
  })
})

describe('an argument edit', () => {
  it('keeps masked values unchanged', async () => {
    const secret = 'hunter22'
    const running = start({ user: 'ann', password: secret, list: [{ pin: '1' }, { pin: '2' }] })
    const { id, arguments: shown } = await running.pending
    expect(shown).toEqual({ user: 'ann', password: '•••', list: [{ pin: '•••' }, { pin: '•••' }] })
    await answer(id, { arguments: { ...shown, user: 'bob', list: [{ pin: '•••' }, { pin: '3' }] } })
    await running.outcome
    expect(calls).toEqual([{ user: 'bob', password: secret, list: [{ pin: '1' }, { pin: '3' }] }])
  })

  it('with a mask where no secret was is rejected by path and keeps the request open', async () => {
    const running = start({ user: 'ann', password: 'hunter22' })
    const { id } = await running.pending
    for (const [path, edited] of [
      ['arguments.user', { user: '•••', password: '•••' }],
      ['arguments.note', { user: 'ann', password: '•••', note: 'it is •••' }],
      ['arguments.list.0', { list: ['•••'] }],
      ['arguments.•••', { '•••': 1 }],
    ] as const)
      await expect(answer(id, { arguments: edited })).rejects.toMatchObject({
        code: 'invalid-input',
        errors: [{ path }],
      })
    expect(await host.approvals.get('ann', id)).toMatchObject({ status: 'pending' })
    await answer(id, { arguments: { password: 'another' } })
    await running.outcome
    expect(calls).toEqual([{ password: 'another' }])
  })

  it('that does not match the tool schema is rejected and keeps the request open', async () => {
    const running = start({ user: 'ann' })
    const { id } = await running.pending
    const bad = { user: 7, password: 'abc' }
    await expect(answer(id, { arguments: bad })).rejects.toMatchObject({
      code: 'invalid-input',
      errors: [{ path: 'arguments.user' }, { path: 'arguments.password' }],
    })
    await answer(id, { arguments: { user: 'bob' } })
    expect(await running.outcome).toMatchObject({ status: 'ok' })
  })

  it('is never stored in plain text, even when another host answers', async () => {
    const keyRing = processKeyRing()
    await host.close()
    backend = memoryBackend()
    const shared = createKvStorage({ name: 'memory', open: async () => backend })
    const execute = (input: unknown) => void calls.push(input)
    const open = () =>
      createServices({
        storage: { ...shared, name: 'memory', close: async () => {} },
        keyRing,
        tools: [{ name: 'send', inputSchema: { type: 'object', properties }, execute }] as never,
        policy: [rule('app.send', { allowEdits: true }, 'ask')],
      })
    host = open()
    await using other = open()
    const [first, second] = ['first-secret', 'second-secret']
    const running = start({ user: 'ann', password: first })
    const { id } = await running.pending
    expect(await raw()).not.toContain(first)
    await other.approvals.answer('ann', id, { decision: 'allow', arguments: { user: 'bob', password: second } })
    expect(await raw()).not.toContain(second)
    await running.outcome
    expect(calls).toEqual([{ user: 'bob', password: second }])
    expect(JSON.parse(await raw())[0]).toMatchObject({ sealedJson: null, answerJson: { edited: true } })
    await host.close()
    host = createServices()
  })
})
