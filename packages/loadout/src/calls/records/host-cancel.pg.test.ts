/** Cancelling a call that another process makes. */
import { afterAll, expect, inject, it } from 'vitest'
import { createDatabase } from '../../../../../test/database.ts'
import { importAesKey, randomBytes } from '../../credentials/aes.ts'
import { aesKeyRing } from '../../credentials/aes-key-ring.ts'
import { createServices } from '../../host/create-services.ts'
import { rule } from '../../policy/rules.ts'
import { postgres } from '../../storage/postgres.ts'
import { defineTool } from '../../toolkits/define-tool.ts'

const { url, drop } = await createDatabase(inject('postgresUrl'))
const keyRing = aesKeyRing([{ id: 'k', key: await importAesKey(randomBytes(32)) }])
let signal: AbortSignal | undefined
let paid = 0
const slow = defineTool({
  name: 'slow',
  execute: (_, context) => {
    signal = context.signal
    return new Promise(() => {})
  },
})
const pay = defineTool({ name: 'pay', execute: () => `paid ${++paid}` })
const hosts = [0, 1].map(() =>
  createServices({ storage: postgres({ url }), keyRing, tools: [slow, pay], policy: [rule('app.slow', 'allow')] }),
)
const [here, there] = hosts as [(typeof hosts)[0], (typeof hosts)[0]]
afterAll(async () => {
  await Promise.all(hosts.map((host) => host.close()))
  await drop()
})
const request = (tool: string) =>
  ({ userId: 'ann', toolkit: 'app', tool, arguments: {}, caller: { type: 'direct' } }) as const

it('a call is cancelled in the process that runs it, and only by its own user', async () => {
  await Promise.all(hosts.map((host) => host.ready()))
  const { callId } = await here.records.start(request('slow'))
  await expect.poll(() => signal).toBeDefined()
  await expect(there.records.cancel('bob', callId)).rejects.toMatchObject({ code: 'not-found' })
  expect(signal?.aborted).toBe(false)
  await there.records.cancel('ann', callId)
  await expect.poll(() => signal?.aborted).toBe(true)
  const record = await there.records.settled('ann', callId)
  expect(record.outcome).toMatchObject({ status: 'failed', error: { code: 'cancelled' } })
  await expect(there.records.cancel('ann', callId)).rejects.toMatchObject({ code: 'conflict' })
})

it('a cancelled call that waits for approval is not made, even if it is then allowed', async () => {
  const { callId } = await here.records.start(request('pay'))
  const findPending = async () => (await here.approvals.list('ann', { status: 'pending', limit: 10 }))[0]
  await expect.poll(findPending).toBeDefined()
  const { id = '' } = (await findPending()) ?? {}
  await expect.poll(async () => (await there.records.get('ann', callId)).status).toBe('pending')
  await there.records.cancel('ann', callId)
  await there.approvals.answer('ann', id, { decision: 'allow' }).catch(() => {})
  await expect.poll(() => here.calls.running('ann', callId)).toBeUndefined()
  expect(paid).toBe(0)
  const { outcome } = await there.records.get('ann', callId)
  expect(outcome && 'error' in outcome && outcome.error.code).toMatch(/^(cancelled|call-not-made)$/)
})
