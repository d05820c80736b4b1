/** Log entries of changes name the change and the actor; erasing a user erases these entries too. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createServices, type HostServices } from '../host/create-services.ts'
import { rule } from '../policy/rules.ts'

let host: HostServices
beforeEach(() => {
  const pay = { name: 'pay', inputSchema: { type: 'object' }, execute: () => 'paid' }
  host = createServices({ tools: [pay] as never })
})
afterEach(() => host.close())

const linesOf = async (action: string) => (await host.audit.list({ everyone: true }, { action })).items

it('a grant is logged with its decision, its target and its thread', async () => {
  const call = { userId: 'ann', toolkit: 'app', tool: 'pay', arguments: {}, caller: { type: 'direct' as const } }
  const running = host.calls.start({ ...call, threadId: 't' })
  await host.approvals.answer('ann', (await running.pending).id, { decision: 'deny', remember: 'thread' })
  await running.outcome
  const expected = { userId: 'ann', ref: 'app.pay', threadId: 't', detail: { target: 'tool', decision: 'deny' } }
  expect(await linesOf('grant_added')).toMatchObject([expected])
  const [grant] = await host.grants.list('ann')
  await host.grants.revoke('ann', grant?.id ?? '')
  expect(await linesOf('grant_revoked')).toMatchObject([expected])
})

it('rules and settings are logged with their new values and the operator who set them', async () => {
  await host.rules.set({}, [rule('*.delete_*', 'deny'), rule('*', 'ask')], { actor: 'olga' })
  await host.rules.set({ userId: 'ann', threadId: 't' }, [rule('app', 'ask')])
  expect(await linesOf('policy_changed')).toMatchObject([
    { userId: 'ann', threadId: 't', detail: { tier: 'thread', count: 1, rules: ['ask app'] } },
    { userId: 'olga', detail: { tier: 'app', count: 2, rules: ['deny *.delete_*', 'ask *'] } },
  ])
  await host.app.update({ limits: { maxCallsPerHour: 5 }, trust: { untrusted: ['x'] } }, { actor: 'olga' })
  expect(await linesOf('app_config_changed')).toMatchObject([
    { userId: 'olga', detail: { fields: ['trust.untrusted', 'limits.maxCallsPerHour'] } },
  ])
  await host.preferences.update('ann', { autoLoadTools: false })
  expect(await linesOf('preferences_changed')).toMatchObject([{ userId: 'ann', detail: { fields: ['autoLoadTools'] } }])
})

it("the app's toolkits are logged with the actor, and an erased user is not named", async () => {
  const owner = { tier: 'app', actor: 'olga' } as const
  const { stored } = await host.toolkits.register({ name: 'kit', url: 'https://x.invalid', headers: { A: 'b' } }, owner)
  await host.toolkits.update('kit', { name: 'Other' }, owner)
  await host.toolkits.remove('kit', owner)
  for (const action of ['toolkit_registered', 'toolkit_updated', 'toolkit_removed', 'credential_set'])
    expect((await linesOf(action)).at(0)).toMatchObject({ userId: 'olga', detail: { uscoId: stored.uscoId } })
  await host.rules.set({}, [], { actor: 'olga' })
  await host.users.remove('olga')
  const { items } = await host.audit.list({ everyone: true }, {}, { limit: 1000 })
  expect(JSON.stringify(items)).not.toContain('olga')
  expect(await host.audit.verify()).toMatchObject({ ok: true })
})
