import { afterEach, expect, it } from 'vitest'
import { createServices, type HostServices } from '../../src/host/create-services.ts'
import { sampleApprovalRow } from '../../src/testing/suites/storage/rows.ts'

let host: HostServices
afterEach(() => host.close())

it('approvals are listed newest first in pages, including those that expired unrecorded', async () => {
  host = createServices({ tools: [{ name: 'pay', inputSchema: { type: 'object' }, execute: () => 'paid' }] as never })
  const call = { userId: 'ann', toolkit: 'app', tool: 'pay', arguments: {}, caller: { type: 'direct' as const } }
  const gone = Array.from({ length: 3 }, () => sampleApprovalRow('ann', { expiresAt: new Date(Date.now() - 1000) }))
  await host.storage.transaction({ userId: 'ann' }, (tx) => tx.insertAll('approvals', gone))
  const asked: string[] = []
  for (let index = 0; index < 5; index++) asked.push((await host.calls.start(call).pending).id)
  await host.approvals.answer('ann', asked[2] ?? '', { decision: 'deny' })
  const ids = async (filter: object) => (await host.approvals.list('ann', filter)).map(({ id }) => id)
  const newest = asked.toReversed()
  expect(await ids({ limit: 2 })).toEqual(newest.slice(0, 2))
  expect(await ids({ limit: 2, cursor: newest[1] })).toEqual(newest.slice(2, 4))
  expect(await ids({ status: 'pending', limit: 3 })).toEqual([newest[0], newest[1], newest[3]])
  expect(await ids({ status: 'denied' })).toEqual([asked[2]])
  const expired = gone.map(({ approvalId }) => approvalId).toReversed()
  expect(await ids({ status: 'expired', limit: 2 })).toEqual(expired.slice(0, 2))
})
