/** Custom toolkits: what their code gets, what it may, and what stays inside. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { sharedExecutor } from '../../../test/fixtures/shared-executor.ts'
import { createServices, type HostServices } from '../../host/create-services.ts'
import type { ServiceOptions } from '../../host/service-options.ts'
import { rule } from '../../policy/rules.ts'
import type { FunctionContext } from '../../toolkits/functions.ts'

const ann = { tier: 'user', userId: 'ann' } as const
const schema = { type: 'object', properties: { text: { type: 'string' } } }
const tool = (name: string, execute: string, more: object = {}) => ({
  name,
  inputSchema: schema,
  annotations: { readOnlyHint: true },
  execute,
  ...more,
})

const forever = (_: unknown) => new Promise(() => {})

const executor = sharedExecutor()
let host: HostServices
const open = async (options: ServiceOptions = {}) => {
  host = createServices({ executor, policy: [rule('shop.ask', 'ask'), rule('*', 'allow')], ...options })
  await host.ready()
}
const made: string[] = []
beforeEach(async () => {
  made.length = 0
  await open({ functions: { shout: ({ text }: { text: string }, { userId }) => `${text.toUpperCase()} ${userId}` } })
  const shop = ['list', 'ask', 'other'].map((name) => ({
    ...tool(name, ''),
    execute: ({ text = '' }: { text?: string }) => {
      made.push(name)
      return `${name} ${text}`
    },
  }))
  await host.toolkits.register({ name: 'shop', tools: shop }, ann)
})
afterEach(async () => {
  vi.useRealTimers()
  await host.close()
})
/** Call timeouts wait for the test; programs run in real time. */
const fakeTimers = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })

const save = (tools: object[], more: object = {}) => host.toolkits.register({ name: 'mine', tools, ...more }, ann)
const start = (name: string, args = {}, more = {}) =>
  host.calls.start({
    userId: 'ann',
    toolkit: 'mine',
    tool: name,
    arguments: args,
    caller: { type: 'direct' },
    ...more,
  })
const call = (name: string, args = {}, more = {}) => start(name, args, more).outcome
const textOf = (outcome: Awaited<ReturnType<typeof call>>) =>
  'error' in outcome ? `${outcome.error.code}: ${outcome.error.message}` : String(outcome.content[0]?.text)

describe('custom tool code', () => {
  it('receives validated input and returns the result', async () => {
    await save([
      tool('greet', 'return `Hello ${input.text}`'),
      tool('typed', 'const words: string[] = input.text.split(" ")\nreturn { words, count: words.length }'),
      tool('shape', 'return { content: [{ type: "text", text: "own" }], structuredContent: { a: 1 } }'),
      tool('arrow', 'async ({ text }) => text.length'),
      tool('nothing', 'const x = 1 // the last word'),
    ])
    expect(await call('greet', { text: 'you' })).toEqual({
      status: 'ok',
      content: [{ type: 'text', text: 'Hello you' }],
    })
    expect(await call('typed', { text: 'a b' })).toMatchObject({ structuredContent: { words: ['a', 'b'], count: 2 } })
    expect(await call('shape')).toMatchObject({ content: [{ text: 'own' }], structuredContent: { a: 1 } })
    expect(textOf(await call('arrow', { text: 'four' }))).toBe('4')
    expect(await call('nothing')).toEqual({ status: 'ok', content: [] })
    expect(textOf(await call('greet', { text: 5 }))).toContain('invalid-input')
  })

  it('returns values to programs with their types', async () => {
    const values = ['5', 'false', 'null', '[1, "a", null]', '"false"', '"5"', '0']
    await save(values.map((value, n) => tool(`v${n}`, `return ${value}`)))
    const plain = [1.5, true, null, [false], 'true'].map((value, n) => ({ ...tool(`f${n}`, ''), execute: () => value }))
    await host.toolkits.register({ name: 'plain', tools: plain }, ann)
    const program = `const all = []
      for (const n of [0, 1, 2, 3, 4, 5, 6]) all.push(await call('mine.v' + n, {}))
      for (const n of [0, 1, 2, 3, 4]) all.push(await call('plain.f' + n, {}))
      return all`
    const { output } = await host.thread({ userId: 'ann', threadId: 't' }).run(program)
    expect(output).toEqual([...values.map((value) => JSON.parse(value)), 1.5, true, null, [false], 'true'])
  })

  it('can reference an app function, and a missing one fails on save and on call', async () => {
    await save([tool('loud', 'ref:shout')])
    expect(textOf(await call('loud', { text: 'hey' }))).toBe('HEY ann')
    await expect(save([tool('loud', 'ref:shout'), tool('gone', 'ref:toString')])).rejects.toMatchObject({
      code: 'invalid-input',
      errors: [{ path: 'tools.1.execute', message: '"toString" is no function of this app; there are shout' }],
    })
    const { storage } = host
    const other = createServices({ storage })
    const outcome = await other.calls.start({
      userId: 'ann',
      toolkit: 'mine',
      tool: 'loud',
      arguments: {},
      caller: { type: 'direct' },
    }).outcome
    expect(textOf(outcome)).toContain('which this app does not have')
  })

  it('returns thrown errors as tool errors with logs and exceeded limits as failures', async () => {
    await host.close()
    await open({ programs: { limits: { cpuMs: 100 } } })
    await save([
      tool('throws', 'console.log("step", 1)\nconsole.warn("odd")\nthrow new Error("no such order")'),
      tool('spins', 'console.log("begins"); for (;;);'),
      tool('eats', 'const all = []; for (;;) all.push(new Array(1e5).fill("x"))'),
    ])
    expect(await call('throws')).toEqual({
      status: 'tool-error',
      content: [{ type: 'text', text: 'Error: no such order (line 3)\nLog:\nstep 1\nwarn: odd' }],
    })
    const spun = await call('spins')
    expect(spun).toMatchObject({ status: 'failed', error: { code: 'program-failed' } })
    expect(textOf(spun)).toMatch(/cpu-limit[\s\S]*Log:\nbegins/)
    expect(textOf(await call('eats'))).toMatch(/program-failed: .*(memory|cpu)-limit/)
  })

  it('is cancelled when its call times out', async () => {
    const signals: AbortSignal[] = []
    const hang = {
      ...tool('hang', ''),
      execute: (_: object, { signal }: FunctionContext) => forever(signals.push(signal)),
    }
    await host.toolkits.register({ name: 'slow', tools: [hang] }, ann)
    await save([tool('waits', 'return await slow.hang()', { tools: ['slow'] })], { timeouts: { callMs: 300 } })
    fakeTimers()
    const late = call('waits')
    await expect.poll(() => signals.length).toBe(1)
    await vi.advanceTimersByTimeAsync(300)
    expect(textOf(await late)).toContain('server-timeout: The code of the tool did not finish within 300 ms')
    // What it had begun ends with it.
    await expect.poll(() => signals.map(({ aborted }) => aborted)).toEqual([true])
  })

  it('is limited in calls and logs like programs', async () => {
    await host.close()
    await open({ programs: { limits: { calls: 5, logBytes: 2000 } } })
    await host.toolkits.register({ name: 'shop', tools: [{ ...tool('list', ''), execute: () => made.push('x') }] }, ann)
    await save([
      tool('floods', 'for (;;) await shop.list()', { tools: ['shop.*'] }),
      tool('talks', 'for (;;) console.log("x".repeat(100))'),
    ])
    expect(textOf(await call('floods'))).toContain('call-limit')
    expect(made).toHaveLength(5)
    expect(textOf(await call('talks'))).toContain('log-limit')
  })

  it('cannot reach outside its sandbox', async () => {
    const reach = `const found = []
      for (const name of ['process', 'require', 'module', 'Bun', 'Deno', 'WebSocket', 'XMLHttpRequest', 'importScripts'])
        if (typeof globalThis[name] !== 'undefined') found.push(name)
      try { const go = (async () => {}).constructor('return process.env'); found.push(await go()) } catch {}
      try { found.push(await call('mine.reach', { __proto__: { a: 1 } })) } catch (error) { found.push(error.code) }
      return found`
    await save([
      tool('reach', reach),
      tool('pollute', 'Object.prototype.x = 1; return { "__proto__": { y: 2 }, z: 3 }'),
    ])
    expect(await call('reach')).toMatchObject({ structuredContent: ['not-carried'] })
    expect(await call('pollute')).toMatchObject({ status: 'ok' })
    expect('x' in {}).toBe(false)
  })

  it('is saved with a warning without an executor, and a call reports the fix', async () => {
    await host.close()
    await open({ executor: undefined })
    const { warnings } = await save([tool('greet', 'return 1')])
    expect(warnings).toEqual(['tools.0.execute is code, and this host runs none: give it an executor'])
    const outcome = await call('greet')
    expect(outcome).toMatchObject({ error: { code: 'function-missing', action: expect.stringContaining('quickjs()') } })
  })
})

describe('custom tool secrets', () => {
  const secret = 'hunter2-planted-secret'
  it('are read by name and redacted everywhere', async () => {
    const code = `console.log('using', secrets.API_KEY)
      if (input.text === 'throw') throw new Error('bad key ' + secrets.API_KEY)
      return { key: secrets.API_KEY, names: Object.keys(secrets), [secrets.API_KEY]: btoa2(secrets.API_KEY) }
      function btoa2(text) { return encodeURIComponent(text) }`
    const { stored } = await save([tool('use', code), tool('has', 'return secrets.API_KEY.length')], {
      secrets: { API_KEY: secret },
    })
    expect(stored.toolkit.server).toMatchObject({ secrets: { API_KEY: '${secret:secrets.API_KEY}' } })
    expect(textOf(await call('has'))).toBe(String(secret.length))
    const outcomes = [await call('use'), await call('use', { text: 'throw' }), await call('use', { text: secret })]
    expect(outcomes[0]).toMatchObject({ structuredContent: { key: '•••', names: ['API_KEY'] } })
    expect(textOf(outcomes[1] as never)).toContain('bad key •••')
    const visible = JSON.stringify([
      outcomes,
      await host.audit.list({ userId: 'ann' }),
      await host.views.list('ann'),
      await host.storage.transaction({ userId: 'ann' }, (tx) => tx.list('userServerConfigs', {})),
    ])
    expect(visible).toContain('mine.use')
    expect(visible).not.toContain(secret)
    // Kept where the placeholder stands, gone with its name.
    await save([tool('has', 'return secrets.API_KEY.length')], { secrets: { API_KEY: '${secret:secrets.API_KEY}' } })
    expect(textOf(await call('has'))).toBe(String(secret.length))
    await save([tool('has', 'return Object.keys(secrets).length')])
    expect(textOf(await call('has'))).toBe('0')
  })

  it('do not replace code that looks like a placeholder', async () => {
    await save([tool('text', 'const secret = 1; return "${secret:x}" + `${secret}`')], { secrets: { A: 'b' } })
    expect(textOf(await call('text'))).toBe('${secret:x}1')
  })
})

describe('tools that a custom tool declares', () => {
  it('run through the call pipeline by name and by ref, and undeclared tools are rejected', async () => {
    await save([
      tool('both', 'return [await shop.list({ text: "a" }), await call("shop.list", { text: "b" })]', {
        tools: ['shop.l*'],
      }),
      tool('other', 'try { return await call("shop.other", {}) } catch (e) { return [e.code, e.message] }', {
        tools: ['shop.list'],
      }),
      tool('unnamed', 'return typeof shop'),
    ])
    const started = start('both')
    expect(await started.outcome).toMatchObject({ structuredContent: ['list a', 'list b'] })
    expect(textOf(await call('other'))).toContain('not among the `tools`')
    expect(textOf(await call('unnamed'))).toBe('undefined')
    const { items } = await host.audit.list({ userId: 'ann' })
    const inner = items.filter(({ ref, outcome }) => ref === 'shop.list' && outcome === 'started')
    expect(inner.map(({ detail }) => [detail.caller, detail.toolId])).toEqual([
      ['code', started.callId],
      ['code', started.callId],
    ])
  })

  it('are callable only if code may call them', async () => {
    await host.toolkits.update('shop', { allowedCallers: ['direct'] }, ann)
    await save([tool('try', 'try { return await shop.list() } catch (e) { return e.code }', { tools: ['shop'] })])
    expect(textOf(await call('try'))).toBe('not-carried')
  })

  it('cannot recurse and cannot nest more than 4 levels deep', async () => {
    const chain = Array.from({ length: 7 }, (_, n) =>
      tool(`t${n}`, `return await call('mine.t${n + 1}', {})`, { tools: ['mine.*'] }),
    )
    const self = tool('self', 'return await mine.self({})', { tools: ['mine.self'] })
    const ring = ['a', 'b'].map((name, n) =>
      tool(name, `return await call('mine.${'ba'[n]}', {})`, { tools: ['mine.*'] }),
    )
    await save([...chain, tool('t7', 'return 1'), self, ...ring])
    expect(textOf(await call('self'))).toContain("'mine.self' calls itself")
    expect(textOf(await call('a'))).toContain("'mine.a' calls itself")
    expect(textOf(await call('t0'))).toContain('at most 4 deep')
    expect(textOf(await call('t4'))).toBe('1')
  })

  it('pause the timeout during an approval and run each call once', async () => {
    const code = `const first = await shop.list({ text: 'one' })
      const [asked, list] = await Promise.all([shop.ask({ text: 'sure' }), shop.list({ text: 'two' })])
      console.log(Date.now() > 0, Math.random())
      return [first, asked, list, await shop.list({ text: 'three' })]`
    await save([tool('buy', code, { tools: ['shop.*'] })], { timeouts: { callMs: 1500 } })
    fakeTimers()
    const started = start('buy')
    const approval = await started.pending
    expect(approval).toMatchObject({ ref: 'shop.ask', caller: { type: 'code', toolId: started.callId } })
    expect(host.calls.get('ann', started.callId)).toMatchObject({ approval: { id: approval.id } })
    await vi.advanceTimersByTimeAsync(2000)
    await host.approvals.answer('ann', approval.id, { decision: 'allow' })
    expect(await started.outcome).toMatchObject({
      structuredContent: ['list one', 'ask sure', 'list two', 'list three'],
    })
    expect(made).toEqual(['list', 'list', 'ask', 'list'])
  })

  it('wait for an approval inside a thread program and run each call once', async () => {
    await save([tool('buy', 'return [await shop.list({}), await shop.ask({})]', { tools: ['shop.*'] })])
    const running = host.thread({ userId: 'ann', threadId: 't' }).run('return (await mine.buy({})).length')
    const pending = () => host.approvals.list('ann', { status: 'pending' })
    await expect.poll(async () => (await pending()).length).toBe(1)
    const [approval] = await pending()
    await host.approvals.answer('ann', approval?.id ?? '', { decision: 'allow' })
    expect(await running).toMatchObject({ status: 'completed', output: 2 })
    expect(made).toEqual(['list', 'ask'])
  })

  it('throw a catchable error when denied and end when their caller is cancelled', async () => {
    const code = 'try { return await shop.ask({}) } catch (error) { return error.code }'
    await save([tool('buy', code, { tools: ['shop.*'] })])
    const denied = start('buy')
    await host.approvals.answer('ann', (await denied.pending).id, { decision: 'deny' })
    expect(textOf(await denied.outcome)).toBe('denied')
    const clock = new AbortController()
    const running = start('buy', {}, { signal: clock.signal })
    await running.pending
    clock.abort()
    expect(await running.outcome).toMatchObject({ error: { code: 'cancelled' } })
  })
})
