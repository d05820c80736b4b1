import { createHmac } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { defineTool } from '@loadout/core'
import { createServices } from '@loadout/core/services'
import { expect, it } from 'vitest'
import { silentLog } from './log.ts'
import { startWebhook } from './webhook.ts'

it('the webhook sends pending approvals to the app, signed and masked, and retries after a failure', async () => {
  const got: Array<{ headers: IncomingHttpHeaders; body: string }> = []
  const server = createServer(async (request, response) => {
    got.push({ headers: request.headers, body: Buffer.concat(await request.toArray()).toString() })
    response.writeHead(got.length === 1 ? 503 : 204).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  const host = createServices({ tools: [defineTool({ name: 'pay', execute: () => 'paid' })] })
  const webhook = startWebhook(host, silentLog, { url, secret: 'shared', waitMs: [10] })
  const call = { userId: 'ann', toolkit: 'app', tool: 'pay', caller: { type: 'direct' as const } }
  const running = host.calls.start({ ...call, arguments: { password: 'hunter22' } })
  const { id } = await running.pending
  await expect.poll(() => got.length).toBe(2)
  const { headers, body } = got[1] as (typeof got)[number]
  expect(JSON.parse(body)).toMatchObject({
    type: 'approval-requested',
    userId: 'ann',
    approval: { id, ref: 'app.pay' },
  })
  expect(body).not.toContain('hunter22')
  expect(headers['x-loadout-signature']).toBe(`sha256=${createHmac('sha256', 'shared').update(body).digest('hex')}`)
  await host.approvals.answer('ann', id, { decision: 'deny' })
  await running.outcome
  await webhook.stop()
  await host.close()
  server.close()
})
