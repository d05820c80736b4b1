/** Programs over HTTP, with a real server behind them. */
import { createRequire } from 'node:module'
import { rule } from '@loadout/core'
import { quickjs } from '@loadout/core/code-mode/quickjs'
import { nodeDrivers } from '@loadout/core/node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type MultiUserApp, multiUserApp } from '../support/multi-user-app.ts'

let app: MultiUserApp
const ann = () => app.as('ann')
const everything = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js')

beforeAll(async () => {
  const policy = [rule('everything.echo', 'ask'), rule('*', 'allow')]
  app = multiUserApp({ drivers: nodeDrivers({ stdio: 'on' }), executor: quickjs(), policy })
  await app.host.ready()
  await ann()('POST /api/mcp', { name: 'everything', command: process.execPath, args: [everything, 'stdio'] })
  await ann()('POST /api/threads', { id: 't' })
})
afterAll(() => app.host.close())

describe('POST /api/threads/:id/run', () => {
  it('runs a program over real tools and stores its steps', async () => {
    const program = `
      const sums: string[] = await Promise.all([1, 2, 3].map((n) => everything.get_sum({ a: n, b: n })))
      console.log(sums.length)
      return sums
    `
    const { status, body } = await ann()('POST /api/threads/t/run', { program, language: 'typescript' })
    expect([status, body.status, body.output.length]).toEqual([200, 'completed', 3])
    expect(body.output[0]).toContain('2')
    const { body: stored } = await ann()(`GET /api/runs/${body.id}`)
    expect(stored.steps.map((step: { request: object }) => step.request)).toEqual(
      [1, 2, 3].map((n) => ({ ref: 'everything.get-sum', arguments: { a: n, b: n } })),
    )
    expect((await ann()('GET /api/runs')).body.items[0]).toMatchObject({ id: body.id, status: 'completed' })
    expect((await app.as('bob')(`GET /api/runs/${body.id}`)).status).toBe(404)
  })

  it('returns 202 with the paused step when approval is needed and continues after the answer', async () => {
    const program = 'return await everything.echo({ message: input.word })'
    const { status, body } = await ann()('POST /api/threads/t/run', { program, input: { word: 'hello' } })
    expect([status, body.status, body.steps[0].status]).toEqual([202, 'paused', 'paused'])
    const { approvalId } = body.steps[0]
    expect((await ann()('GET /api/approvals')).body.items).toMatchObject([{ id: approvalId, ref: 'everything.echo' }])
    await ann()(`POST /api/approvals/${approvalId}/answer`, { decision: 'allow' })
    await expect
      .poll(async () => (await ann()(`GET /api/runs/${body.id}`)).body)
      .toMatchObject({ status: 'completed', output: 'Echo: hello' })
  })

  it('returns 202 at once without waiting, and the run can be cancelled', async () => {
    const program = 'for (;;) await everything.get_sum({ a: 1, b: 1 })'
    const { status, body } = await ann()('POST /api/threads/t/run', { program, wait: false })
    expect(status).toBe(202)
    const cancelled = await ann()(`POST /api/runs/${body.id}/cancel`)
    expect(cancelled.body.status).toBe('cancelled')
    expect((await ann()(`POST /api/runs/${body.id}/cancel`)).status).toBe(409)
  })

  it.each([
    [{}, 'program'],
    [{ program: 'return 1', limits: { calls: 0 } }, 'limits.calls'],
    [{ program: 'return 1', langauge: 'x' }, 'langauge'],
  ])('rejects %j and names the path', async (input, path) => {
    const { status, body } = await ann()('POST /api/threads/t/run', input)
    expect([status, body.errors[0].path]).toEqual([422, path])
  })
})
