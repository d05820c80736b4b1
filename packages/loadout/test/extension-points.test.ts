/** Code of the app in the pipeline of a call: its policy function, its stages and its hooks. */
import { afterEach, describe, expect, it } from 'vitest'
import {
  type CallStage,
  createHost,
  defineTool,
  type Host,
  HostError,
  type HostOptions,
  type PolicyFunction,
  rule,
} from '../src/index.ts'

let host: Host
afterEach(() => host.close())

const made: unknown[] = []
const inputSchema = { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] } as const
const refund = defineTool({
  name: 'refund',
  inputSchema,
  execute: (args) => {
    made.push(args)
    return 'refunded'
  },
})
const open = (options: HostOptions) => {
  made.length = 0
  host = createHost({ toolkits: { tools: [refund] }, ...options })
  return host.user('ann')
}
const allowAll = [rule('*', 'allow')]
const large: PolicyFunction = ({ arguments: { amount } }) =>
  Number(amount) > 100 ? { decision: 'deny', reason: 'More than 100 needs a person.' } : undefined

describe('a policy function', () => {
  it('decides by the arguments of a call', async () => {
    const ann = open({ policy: { rules: allowAll, decide: large } })
    expect(await ann.call('app.refund', { amount: 5 })).toMatchObject({ status: 'ok' })
    const outcome = await ann.call('app.refund', { amount: 500 })
    expect(outcome).toMatchObject({ status: 'denied', error: { code: 'denied' } })
    expect('error' in outcome && outcome.error.message).toContain('More than 100 needs a person.')
    expect(made).toEqual([{ amount: 5 }])
  })

  it('stands alone as the policy, as rules do', async () => {
    const ann = open({ policy: () => 'deny' })
    expect(await ann.call('app.refund', { amount: 5 })).toMatchObject({ status: 'denied' })
    await host.close()
    expect(await open({ policy: allowAll }).call('app.refund', { amount: 5 })).toMatchObject({ status: 'ok' })
  })

  it('cannot loosen a rule of the app unless the app allows it', async () => {
    const rules = [rule('*', 'deny')]
    const strict = open({ policy: { rules, decide: () => 'allow' } })
    expect(await strict.call('app.refund', { amount: 5 })).toMatchObject({ status: 'denied' })
    await host.close()
    const loose = open({
      policy: { rules, decide: ({ decision }) => (decision === 'deny' ? 'allow' : undefined), mayLoosen: true },
    })
    expect(await loose.call('app.refund', { amount: 5 })).toMatchObject({ status: 'ok' })
  })

  it('never loosens a rule of a user', async () => {
    const ann = open({ policy: { rules: allowAll, decide: () => 'allow', mayLoosen: true } })
    await ann.rules.set([rule('app.refund', 'deny')])
    expect(await ann.call('app.refund', { amount: 5 })).toMatchObject({ status: 'denied' })
  })

  it('asks for approval, and asks again next time although the user wanted the answer saved', async () => {
    const ann = open({
      policy: { rules: allowAll, decide: ({ arguments: { amount } }) => (Number(amount) > 100 ? 'ask' : undefined) },
    })
    const call = ann.call('app.refund', { amount: 500 })
    const approval = await call.approval
    await expect(ann.approvals.allow(approval.id, { remember: 'tool' })).rejects.toThrow()
    await ann.approvals.allow(approval.id)
    expect(await call).toMatchObject({ status: 'ok' })
    const again = ann.call('app.refund', { amount: 501 })
    await ann.approvals.deny((await again.approval).id)
    expect(await again).toMatchObject({ status: 'denied' })
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('secret detail')
      },
    ],
    ['answers another word', () => 'maybe' as never],
  ] as const)('denies the call if it %s, and reports the error to the app', async (_, decide) => {
    const errors: unknown[] = []
    const ann = open({
      policy: { rules: allowAll, decide },
      runtime: { onListenerError: (error) => errors.push(error) },
    })
    const outcome = await ann.call('app.refund', { amount: 5 })
    expect(outcome).toMatchObject({ status: 'denied' })
    expect(JSON.stringify(outcome)).not.toContain('secret detail')
    expect(errors).toHaveLength(1)
    expect(made).toEqual([])
  })

  it('cannot change the arguments that are sent', async () => {
    const ann = open({
      policy: (call) => {
        call.arguments.amount = 1
        return 'allow'
      },
    })
    await ann.rules.set([])
    const outcome = ann.call('app.refund', { amount: 5 })
    await ann.approvals.allow((await outcome.approval).id)
    await outcome
    expect(made).toEqual([{ amount: 5 }])
  })
})

describe('a stage of the app', () => {
  const seen: string[] = []
  const noting = (name: string, position: { before: 'validation' | 'intent' } | { after: 'decision' }): CallStage => ({
    name,
    ...(position as { before: 'validation' }),
    run: ({ ref, isRestart }, { next }) => {
      seen.push(`${name} ${ref}${isRestart ? ' again' : ''}`)
      return next()
    },
  })

  it('runs at its position, also after an approval, until it is removed', async () => {
    seen.length = 0
    const ann = open({ policy: [rule('*', 'ask')] })
    const remove = host.use(noting('early', { before: 'validation' }))
    host.use(noting('late', { before: 'intent' }))
    const call = ann.call('app.refund', { amount: 5 })
    await ann.approvals.allow((await call.approval).id)
    expect(await call).toMatchObject({ status: 'ok' })
    expect(seen).toEqual(['early app.refund', 'early app.refund again', 'late app.refund again'])
    remove()
    const other = ann.call('app.refund', { amount: 6 })
    await ann.approvals.deny((await other.approval).id)
    await other
    expect(seen).toHaveLength(3)
  })

  it('refuses a call with its reason', async () => {
    const ann = open({ policy: allowAll })
    host.use({ name: 'closed', before: 'decision', run: (_, { refuse }) => refuse('The shop is closed.') })
    const outcome = await ann.call('app.refund', { amount: 5 })
    expect(outcome).toMatchObject({ status: 'denied' })
    expect('error' in outcome && outcome.error.message).toContain('The shop is closed.')
    expect(made).toEqual([])
  })

  it('changes arguments before their validation, and the changed ones are validated', async () => {
    const ann = open({ policy: allowAll })
    host.use({
      name: 'cents',
      before: 'validation',
      run: ({ arguments: { amount, ...rest } }, { next }) =>
        next({ arguments: { ...rest, amount: amount === 13 ? 'thirteen' : Number(amount) * 100 } }),
    })
    expect(await ann.call('app.refund', { amount: 5 })).toMatchObject({ status: 'ok' })
    expect(made).toEqual([{ amount: 500 }])
    expect(await ann.call('app.refund', { amount: 13 })).toMatchObject({ error: { code: 'invalid-input' } })
  })

  it('cannot change arguments after their validation, call the tool twice, or return nothing', async () => {
    const ann = open({ policy: allowAll })
    const misuses: Array<CallStage['run']> = [
      (_, { next }) => next({ arguments: { amount: 1_000_000 } }),
      async (_, { next }) => {
        await next()
        return next()
      },
      () => undefined as never,
    ]
    for (const run of misuses) {
      const remove = host.use({ name: 'misuse', after: 'decision', run })
      expect(await ann.call('app.refund', { amount: 5 })).toMatchObject({
        status: 'failed',
        error: { code: 'config-invalid' },
      })
      remove()
    }
    expect(made).toEqual([{ amount: 5 }])
  })

  it('that throws ends the call without its own text', async () => {
    const ann = open({ policy: allowAll })
    host.use({
      name: 'broken',
      before: 'limits',
      run: () => {
        throw new Error('secret detail')
      },
    })
    const outcome = await ann.call('app.refund', { amount: 5 })
    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'internal' } })
    expect(JSON.stringify(outcome)).not.toContain('secret detail')
    expect('error' in outcome && outcome.error.message).toContain('`broken`')
  })

  it('does not see tools of the host itself', async () => {
    seen.length = 0
    const ann = open({ policy: allowAll })
    host.use(noting('early', { before: 'validation' }))
    expect(await ann.thread('t').call({ name: 'search_tools', arguments: { query: 'refund' } })).toMatchObject({
      status: 'ok',
    })
    expect(seen).toEqual([])
  })

  it.each([
    [{ name: 'x', run: (): void => {} }, 'exactly one of'],
    [{ name: 'x', before: 'telemetry', run: (): void => {} }, '`telemetry` is not a position'],
    [{ name: '', before: 'pin', run: (): void => {} }, '`name` must be a text'],
    [{ name: 'x', before: 'pin' }, '`run` must be a function'],
  ])('with the wrong form %o is refused', (stage, says) => {
    open({})
    expect(() => host.use(stage as never)).toThrow(says)
  })

  it('has a name that no other stage has', () => {
    open({})
    host.use(noting('one', { before: 'intent' }))
    expect(() => host.use(noting('one', { before: 'intent' }))).toThrow('exists already')
  })
})

describe('call hooks', () => {
  it('run before an allowed call and after every call', async () => {
    const reported: string[] = []
    const ann = open({ policy: { rules: allowAll, decide: large } })
    const remove = host.onCall({
      before: ({ ref, arguments: args }) => void reported.push(`before ${ref} ${JSON.stringify(args)}`),
      after: ({ userId, toolkit, tool }, { status }) =>
        void reported.push(`after ${userId} ${toolkit}.${tool} ${status}`),
    })
    await ann.call('app.refund', { amount: 5 })
    await ann.call('app.refund', { amount: 500 })
    await ann.call('app.nothing', {})
    expect(reported).toEqual([
      'before app.refund {"amount":5}',
      'after ann app.refund ok',
      'after ann app.refund denied',
      'after ann app.nothing failed',
    ])
    remove()
    await ann.call('app.refund', { amount: 5 })
    expect(reported).toHaveLength(4)
  })

  it('end a call by an error before it, and cannot change its outcome after it', async () => {
    const errors: unknown[] = []
    const ann = open({ policy: allowAll, runtime: { onListenerError: (error) => errors.push(error) } })
    host.onCall({
      before: ({ arguments: { amount } }) => {
        if (amount === 7) throw new HostError('limit-reached', { detail: 'No sevens today.' })
      },
      after: () => {
        throw new Error('too late')
      },
    })
    expect(await ann.call('app.refund', { amount: 7 })).toMatchObject({ status: 'failed' })
    expect(await ann.call('app.refund', { amount: 5 })).toMatchObject({ status: 'ok' })
    expect(made).toEqual([{ amount: 5 }])
    expect(errors).toHaveLength(2)
  })
})
