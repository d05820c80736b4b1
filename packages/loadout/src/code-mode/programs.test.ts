/** Programs of threads, over tools that are functions: what they may, what they get, and where they pause. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sharedExecutor } from '../../test/fixtures/shared-executor.ts'
import { createServices, type HostServices } from '../host/create-services.ts'
import { rule } from '../policy/rules.ts'

const ann = { userId: 'ann', threadId: 'work' }

const executor = sharedExecutor()
let host: HostServices
let made: string[]
const records = Array.from({ length: 200 }, (_, id) => ({ id, total: id * 10, customer: `c${id % 20}` }))
const tool = (name: string, execute: (input: never) => unknown, annotations: object = { readOnlyHint: true }) => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object' },
  annotations,
  execute: (input: never) => {
    made.push(name)
    return execute(input)
  },
})

beforeEach(async () => {
  made = []
  host = createServices({ executor, policy: [rule('shop.refund', 'ask'), rule('*', 'allow')] })
  await host.ready()
  const tools = [
    tool('orders', () => ({ orders: records })),
    tool('customer', ({ id }: { id: string }) => ({ id, name: `Name ${id}` })),
    tool('get-rate', () => 'a rate'),
    tool('refund', ({ id }: { id: number }) => `refunded ${id}`, { destructiveHint: true }),
    tool('broken', () => {
      throw new Error('it broke')
    }),
  ]
  await host.toolkits.register({ name: 'shop', tools }, { tier: 'user', userId: 'ann' })
  await host.toolkits.register(
    { name: 'by-hand', tools: [tool('sign', () => 'signed')], allowedCallers: ['direct'] },
    { tier: 'user', userId: 'ann' },
  )
})
afterEach(() => host.close())
const run = (program: string, more = {}) => host.thread(ann).run({ program, ...more })

describe('thread.run', () => {
  it('loops, filters and calls in parallel, and returns only the program result', async () => {
    const done = await run(`
      const { orders } = await shop.orders()
      const big: any[] = orders.filter((order) => order.total > 1940)
      const customers = await Promise.all(big.map((order) => shop.customer({ id: order.customer })))
      console.log('found', big.length)
      return big.map((order, n) => ({ id: order.id, name: customers[n].name }))
    `)
    expect(done).toMatchObject({ status: 'completed', logs: [{ level: 'log', text: 'found 5' }] })
    expect(done.output).toEqual([195, 196, 197, 198, 199].map((id) => ({ id, name: `Name c${id % 20}` })))
    expect(done.steps).toHaveLength(6)
    expect(done.steps[0]).toMatchObject({ kind: 'call', status: 'completed', request: { ref: 'shop.orders' } })
    expect(done.usage).toMatchObject({ calls: 6 })
  })

  it('throws tool errors with their code and gives dashed names two forms', async () => {
    const done = await run(`
      const codes = []
      for (const call of [() => shop.broken({}), () => by_hand.sign({}), () => call2()])
        try { await call() } catch (error) { codes.push([error.code ?? error.name, error.message]) }
      return { codes, rate: await shop.get_rate({}), again: await shop['get-rate']({}) }
    `)
    expect(done.error).toBeUndefined()
    const { codes, ...rates } = done.output as { codes: string[][] }
    expect(codes[0]).toEqual(['tool-error', 'it broke'])
    expect(codes[1]?.[0]).toBe('not-carried')
    expect(codes[1]?.[1]).toContain('may not be called by "code"')
    expect(codes[2]?.[0]).toBe('ReferenceError')
    expect(rates).toEqual({ rate: 'a rate', again: 'a rate' })
  })

  it('excludes tools that programs may not call from search results', async () => {
    const forecast = (name: string) => ({ ...tool(name, () => 'rain'), description: 'The weather forecast of a day.' })
    const days = ['one', 'two', 'three', 'four', 'five', 'six'].map((day) => forecast(`forecast_${day}`))
    const owner = { tier: 'user', userId: 'ann' } as const
    await host.toolkits.register({ name: 'weather', tools: days, allowedCallers: ['direct'] }, owner)
    await host.toolkits.register(
      { name: 'wx', tools: [{ ...tool('now', () => 'dry'), description: 'Weather.' }] },
      owner,
    )
    const done = await run(`return (await search({ query: 'weather forecast', limit: 5 })).map(({ name }) => name)`)
    expect((done.output as string[])[0]).toBe('wx.now')
    expect(String(done.output)).not.toContain('weather.')
  })

  it('searches and describes tools inside a program and calls them by name', async () => {
    const done = await run(`
      const [best] = await search('customer by id')
      return { best: best.name, about: await describe(best.name), value: await call(best.name, { id: 'c1' }) }
    `)
    expect(done.output).toMatchObject({ best: 'shop.customer', value: { name: 'Name c1' } })
    expect(JSON.stringify(done.output)).toContain('customer')
  })

  it('pauses for an approval and continues without repeating a call', async () => {
    const paused = await run(`
      const { orders } = await shop.orders()
      const word = await shop.refund({ id: orders[3].id })
      return [word, Date.now() > 0, Math.random()]
    `)
    expect(paused).toMatchObject({ status: 'paused', steps: [{ status: 'completed' }, { status: 'paused' }] })
    expect(paused.pending).toEqual([{ id: paused.steps[1]?.approvalId, ref: 'shop.refund' }])
    expect(made).toEqual(['orders'])
    const approvalId = paused.steps[1]?.approvalId ?? ''
    expect(await host.approvals.get('ann', approvalId)).toMatchObject({
      ref: 'shop.refund',
      arguments: { id: 3 },
      status: 'pending',
      caller: { type: 'code', toolId: paused.id },
    })
    await host.approvals.answer('ann', approvalId, { decision: 'allow' })
    const done = await host.runs.settled('ann', paused.id)
    expect(done).toMatchObject({ status: 'completed', output: ['refunded 3', true, expect.any(Number)] })
    expect(made).toEqual(['orders', 'refund'])
  })

  it('asks again if the tool changed after the approval request', async () => {
    const kit = (description: string) => ({
      name: 'till',
      tools: [{ ...tool('pay', () => 'paid', {}), description }],
    })
    await host.rules.set({ userId: 'ann' }, [{ pattern: 'till.pay', decision: 'ask' }])
    await host.toolkits.register(kit('Pays.'), { tier: 'user', userId: 'ann' })
    const paused = await run('return await till.pay({})')
    const first = paused.steps[0]?.approvalId ?? ''
    const { stored } = await host.toolkits.register(kit('Pays somebody else.'), { tier: 'user', userId: 'ann' })
    await host.catalog.introspect(stored, 'ann')
    await host.approvals.answer('ann', first, { decision: 'allow' })
    const currentApproval = async () => (await host.runs.get('ann', paused.id)).steps[0]?.approvalId
    await expect.poll(currentApproval).not.toBe(first)
    expect(made).not.toContain('pay')
  })

  it('continues with a catchable error after a denial', async () => {
    const paused = await run(`
      try { return await shop.refund({ id: 1 }) } catch (error) { return error.code }
    `)
    await host.approvals.answer('ann', paused.steps[0]?.approvalId ?? '', { decision: 'deny' })
    expect(await host.runs.settled('ann', paused.id)).toMatchObject({ status: 'completed', output: 'denied' })
    expect(made).toEqual([])
  })

  it('requests two approvals at once and makes each call once', async () => {
    const paused = await run(`
      return await Promise.all([shop.refund({ id: 1 }), shop.orders({}).then(() => 'orders'), shop.refund({ id: 2 })])
    `)
    expect(paused.steps.map(({ status }) => status)).toEqual(['paused', 'completed', 'paused'])
    for (const { approvalId } of paused.steps.filter((step) => step.approvalId))
      await host.approvals.answer('ann', approvalId ?? '', { decision: 'allow' })
    await expect
      .poll(async () => (await host.runs.get('ann', paused.id)).output)
      .toEqual(['refunded 1', 'orders', 'refunded 2'])
    expect([...made].sort()).toEqual(['orders', 'refund', 'refund'])
  })

  it('completes and records calls that the program does not await', async () => {
    const done = await run('shop.get_rate({}); return "sent"')
    expect(done).toMatchObject({ status: 'completed', output: 'sent', steps: [{ status: 'completed' }] })
    expect(made).toEqual(['get-rate'])
  })

  it('leaves no approval request open after a failure', async () => {
    const done = await run('await Promise.all([shop.refund({ id: 1 }), shop.broken({})])')
    expect(done.status).toBe('failed')
    await expect.poll(async () => (await host.approvals.list('ann', { status: 'pending' })).length).toBe(0)
  })

  it('limits the stored size of a step', async () => {
    const done = await run(
      'await search("x".repeat(200_000)); return await call("y".repeat(100_000), { text: "z".repeat(150_000) }).catch((error) => error.code)',
    )
    expect(done.output).toBe('tool-not-found')
    expect(JSON.stringify(done.steps).length).toBeLessThan(20_000)
  })

  it('expires the approval request of a cancelled run', async () => {
    const paused = await run('return await shop.refund({ id: 1 })')
    await host.runs.cancel('ann', paused.id)
    expect((await host.approvals.get('ann', paused.steps[0]?.approvalId ?? '')).status).toBe('expired')
    const { status, steps } = await host.runs.get('ann', paused.id)
    expect([status, steps]).toMatchObject(['cancelled', [{ status: 'failed', error: { code: 'cancelled' } }]])
    expect(steps[0]?.approvalId).toBeUndefined()
  })

  it('reports the position of a syntax error once', async () => {
    const { error } = await run('const a = 1\nconst b = (')
    expect(error?.message.match(/line 2/g)).toHaveLength(1)
  })

  it.each([
    ['return (', 'syntax-error'],
    ['throw new Error("mine")', 'program-error'],
    ['for (;;) {}', 'cpu-limit'],
    ['for (let n = 0; n < 20; n++) await shop.get_rate({})', 'call-limit'],
  ])('ends %s as %s', async (program, reason) => {
    const done = await run(program, { limits: { cpuMs: 200, calls: 10 } })
    expect(done).toMatchObject({ status: 'failed', error: { code: 'program-failed', reason } })
  })

  it('is available to any model as run_code and returns only the value', async () => {
    const program = 'const { orders } = await shop.orders(); return orders.length'
    const outcome = await host.thread(ann).call({ name: 'run_code', arguments: { program } })
    expect(outcome).toMatchObject({ status: 'ok', content: [{ type: 'text', text: '200' }] })
    const failed = await host
      .thread(ann)
      .call({ name: 'run_code', arguments: { program: 'console.log("here"); nothing()' } })
    expect(failed).toMatchObject({ status: 'tool-error' })
    expect(JSON.stringify(failed)).toContain('here')
  })

  it('returns a paused run_code run by ID to its own user and thread only', async () => {
    const code = (args: object, thread = ann) => host.thread(thread).call({ name: 'run_code', arguments: { ...args } })
    const paused = await code({ program: 'return [await shop.refund({ id: 4 })]' })
    const { runId: id = '' } = (paused as { structuredContent?: { runId?: string } }).structuredContent ?? {}
    expect(JSON.stringify(paused)).toContain(`run_code({ run: \\"${id}\\" })`)
    expect(await code({ run: id })).toMatchObject({ status: 'ok', structuredContent: { status: 'paused' } })
    const { steps } = await host.runs.get('ann', id)
    await host.approvals.answer('ann', steps[0]?.approvalId ?? '', { decision: 'allow' })
    expect(await code({ run: id })).toMatchObject({ content: [{ text: '["refunded 4"]' }] })
    for (const thread of [
      { ...ann, userId: 'bea' },
      { ...ann, threadId: 'other' },
    ])
      expect(await code({ run: id }, thread)).toMatchObject({ status: 'failed', error: { code: 'not-found' } })
    for (const args of [{}, { run: id, program: 'return 1' }, { run: 1 }])
      expect(await code(args)).toMatchObject({ status: 'failed', error: { code: 'invalid-input' } })
    expect(made).toEqual(['refund'])
  })

  it('applies the narrowing and the rules of the run_code call', async () => {
    const program = 'try { return await shop.get_rate({}) } catch (error) { return error.code ?? error.name }'
    const call = { name: 'run_code', arguments: { program } }
    const value = async (more: object) =>
      (await host.thread(ann).call({ ...call, ...more })) as { structuredContent?: { value?: unknown } }
    expect((await value({})).structuredContent?.value).toBe('a rate')
    expect((await value({ narrow: { except: ['shop.get-rate'] } })).structuredContent?.value).not.toBe('a rate')
    expect((await value({ rules: [rule('shop.get-rate', 'deny')] })).structuredContent?.value).toBe('denied')
    const selection = await host.thread(ann).select({ prompt: 'x', programs: true, narrow: { only: ['shop.orders'] } })
    expect(
      ((await selection.call(call)) as { structuredContent?: { value?: unknown } }).structuredContent?.value,
    ).not.toBe('a rate')
  })

  it('accepts lower limits and never exceeds the host limits', async () => {
    await using strict = createServices({ executor, programs: { limits: { cpuMs: 100 } } })
    const limits = { cpuMs: 600_000, wallMs: 3_600_000 }
    const done = await strict.thread(ann).run({ program: 'for (;;) {}', limits })
    expect(done).toMatchObject({ status: 'failed', error: { reason: 'cpu-limit' } })
  })

  it('cancels the program when its run_code call is cancelled', async () => {
    const stop = new AbortController()
    const program = 'for (;;) await shop.get_rate({})'
    const outcome = host.thread(ann).call({ name: 'run_code', arguments: { program }, signal: stop.signal })
    await expect.poll(() => made.length).toBeGreaterThan(2)
    stop.abort()
    expect(await outcome).toMatchObject({ status: 'failed', error: { code: 'cancelled' } })
    const [last] = await host.runs.list('ann')
    expect(last?.status).toBe('cancelled')
  })

  it('fails with function-missing without an executor', async () => {
    await using plain = createServices()
    await expect(plain.thread(ann).run('return 1')).rejects.toMatchObject({ code: 'function-missing' })
  })
})

describe('run_code in a selection', () => {
  const names = ({ tools }: { tools: ReadonlyArray<{ entry: { modelName: string } }> }) =>
    tools.map(({ entry }) => entry.modelName)

  it('includes declarations of the found tools and counts its tokens', async () => {
    const plain = await host.thread(ann).select({ prompt: 'refund an order', limit: 2 })
    const selection = await host.thread(ann).select({ prompt: 'refund an order', limit: 2, programs: true })
    expect(names(selection)).toContain('run_code')
    expect(names(selection).filter((name) => name !== 'run_code')).toEqual(names(plain))
    const offered = selection.tools.find(({ entry }) => entry.modelName === 'run_code')
    expect(offered?.entry.manifest.description).toContain('declare const shop')
    expect(selection.tokens.after).toBe(plain.tokens.after + (offered?.tokens ?? 0))
    const outcome = await selection.call({ name: 'run_code', arguments: { program: 'return 1 + 1' } })
    expect(outcome).toMatchObject({ status: 'ok', content: [{ text: '2' }] })
  })

  it('replaces all tools that programs may call when it is the only tool', async () => {
    const selection = await host.thread(ann).select({ prompt: 'refund an order', limit: 3, programs: 'only' })
    expect(names(selection)).toContain('run_code')
    expect(names(selection).filter((name) => name.startsWith('mcp_shop_'))).toEqual([])
    expect(selection.deferred.map(({ ref }) => ref)).toContain('shop.refund')
  })

  it('is missing with a warning on a host without an executor', async () => {
    await using plain = createServices()
    const { warnings } = await plain.thread(ann).select({ prompt: 'x', programs: true })
    expect(warnings).toEqual(['This host runs no programs: it has no executor.'])
  })
})

describe('a removed user', () => {
  it('loses all programs, including running ones', async () => {
    const started = await host.thread(ann).run({ program: 'for (;;) await shop.get_rate({})' }, { wait: false })
    await expect.poll(() => made.length).toBeGreaterThan(3)
    await host.users.remove('ann')
    const then = made.length
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(made.length).toBe(then)
    await expect(host.runs.get('ann', started.id)).rejects.toMatchObject({ code: 'not-found' })
  })
})
