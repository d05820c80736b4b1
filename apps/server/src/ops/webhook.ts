/**
 * Posts approval requests to the app's webhook: signed, with retries, in the background. Secrets in the body are
 * masked, and failures are logged.
 */
import { createHmac } from 'node:crypto'
import type { HostEvent } from '@loadout/core'
import { createGuardedFetch } from '@loadout/core/node'
import type { HostServices } from '@loadout/core/services'
import type { Config } from '../config.ts'
import type { Log } from './log.ts'

export interface WebhookOptions {
  url: string
  /** Signs the body: `x-loadout-signature: sha256=<hex>`. */
  secret?: string | undefined
  proxy?: Config['proxy']
  certificates?: string | undefined
  /** Wait before each retry in ms. @default [1000, 5000, 30_000] */
  waitMs?: readonly number[]
}

const TIMEOUT_MS = 10_000
const WAIT_MS = [1000, 5000, 30_000]

export function startWebhook(host: HostServices, log: Log, options: WebhookOptions): { stop(): Promise<void> } {
  const { url, secret, proxy, certificates, waitMs = WAIT_MS } = options
  const guarded = createGuardedFetch({
    privateNetwork: true,
    ...(proxy ? { proxy } : {}),
    ...(certificates === undefined ? {} : { ca: certificates }),
  })
  const stopping = new AbortController()

  const post = async (body: string): Promise<void> => {
    const signature = secret === undefined ? undefined : createHmac('sha256', secret).update(body).digest('hex')
    const response = await guarded.fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(signature ? { 'x-loadout-signature': `sha256=${signature}` } : {}),
      },
      body,
      signal: AbortSignal.any([stopping.signal, AbortSignal.timeout(TIMEOUT_MS)]),
    })
    await response.body?.cancel()
    if (!response.ok) throw new Error(`The webhook answered ${response.status}.`)
  }
  const notify = async ({ userId, approvalId }: Extract<HostEvent, { type: 'approval-requested' }>): Promise<void> => {
    const approval = await host.approvals.get(userId, approvalId)
    const body = JSON.stringify({ type: 'approval-requested', userId, approval })
    for (const [index, wait] of [...waitMs, undefined].entries()) {
      try {
        return await post(body)
      } catch (err) {
        if (wait === undefined || stopping.signal.aborted) throw err
        log.warn({ err, approvalId, tries: index + 1 }, 'the webhook was not told')
        await new Promise((resolve) => setTimeout(resolve, wait).unref())
      }
    }
  }
  const stopEvents = host.events.on('approval-requested', (event) => {
    notify(event).catch((err) => log.error({ err, approvalId: event.approvalId }, 'the webhook was not told'))
  })
  return {
    async stop() {
      stopEvents()
      stopping.abort()
      await guarded.close()
    },
  }
}
