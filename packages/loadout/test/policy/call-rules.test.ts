/** Rules that a call brings itself: the lowest tier, which only tightens, on every way to a tool. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createExecutionContext } from '../../src/context.ts'
import { createServices, type HostServices } from '../../src/host/create-services.ts'
import { rule } from '../../src/policy/rules.ts'

let host: HostServices
beforeEach(() => {
  const tool = (name: string) => ({ name, inputSchema: { type: 'object' }, execute: () => name })
  host = createServices({
    tools: [tool('look'), tool('pay')] as never,
    policy: [rule('app.look', 'allow'), rule('*', 'deny')],
  })
})
afterEach(() => host.close())

const deny = [rule('app.look', { reason: 'Not in this call.' }, 'deny')]
const allow = [rule('*', 'allow')]
const start = (tool: string, rules: readonly object[]) =>
  host.calls.start({
    userId: 'ann',
    toolkit: 'app',
    tool,
    arguments: {},
    caller: { type: 'direct' },
    rules: rules as never,
  })

it('a call rule tightens the policy and never loosens it', async () => {
  expect(await start('look', []).outcome).toMatchObject({ status: 'ok' })
  const denied = await start('look', deny).outcome
  expect(denied).toMatchObject({ status: 'denied', error: { message: expect.stringContaining('Not in this call.') } })
  expect(await start('pay', allow).outcome).toMatchObject({ status: 'denied' })
  const asked = start('look', [rule('app.look', 'ask')])
  await host.approvals.answer('ann', (await asked.pending).id, { decision: 'allow' })
  expect(await asked.outcome).toMatchObject({ status: 'ok' })
})

it('a call rule also applies in a thread and in an invocation', async () => {
  const thread = host.thread({ userId: 'ann', threadId: 't' })
  const call = { name: 'app.look', arguments: {} }
  expect(await thread.call(call)).toMatchObject({ status: 'ok' })
  expect(await thread.call({ ...call, rules: deny })).toMatchObject({ status: 'denied' })
  const context = createExecutionContext({ principal: { kind: 'session', userId: 'ann' }, rules: deny })
  await using run = await host.setupToolkits(['app'], { context })
  expect(await run.call(call)).toMatchObject({ status: 'denied' })
})

it('an invalid call rule is rejected with its path', async () => {
  const bad = await start('look', [{ pattern: 'A b', decision: 'deny' }]).outcome
  expect(bad).toMatchObject({ error: { code: 'invalid-input', errors: [{ path: 'rules.0.pattern' }] } })
})
