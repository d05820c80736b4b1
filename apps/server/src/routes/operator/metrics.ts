/**
 * `GET /metrics`, outside the API. Allowed for operators, for the metrics key, and for everyone on the loopback port
 * in local mode.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { HostError } from '@loadout/core'
import { parse, principal } from '@loadout/core/schema'
import { Hono } from 'hono'
import type { Env } from '../../http/env.ts'
import { type Authenticate, assertOperator } from '../../http/middleware.ts'

export interface MetricsOptions {
  /** All metrics in Prometheus text format. */
  read(): Promise<string>
  /** Key for the metrics only. */
  key?: string | undefined
}

export function metricsRoutes({ read, key }: MetricsOptions, authenticate: Authenticate) {
  return new Hono<Env>().get('/metrics', async (c) => {
    if (!isKey(c.req.header('authorization'), key)) {
      const found = await authenticate(c.req.raw)
      if (!found) throw new HostError('unauthenticated')
      assertOperator(parse(principal, found))
    }
    return c.body(await read(), 200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' })
  })
}

function isKey(header: string | undefined, key: string | undefined): boolean {
  if (key === undefined || header === undefined) return false
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(header), digest(`Bearer ${key}`))
}
