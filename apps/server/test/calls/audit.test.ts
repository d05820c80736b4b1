/** The log over HTTP: whose lines, in which form, and what operators may. */
import { defineTool } from '@loadout/core'
import { createServices } from '@loadout/core/services'
import { describe, expect, it } from 'vitest'
import { createApp } from '../../src/http/app.ts'
import { multiUserApp } from '../support/multi-user-app.ts'

const hello = defineTool({
  name: 'hello',
  inputSchema: { type: 'object', properties: { to: { type: 'string' }, pin: { type: 'string', writeOnly: true } } },
  annotations: { readOnlyHint: true },
  execute: ({ to }: { to: string }) => `hello ${to}`,
} as never)

async function world() {
  const { host, as } = multiUserApp({ tools: [hello] })
  const [ann, bob, olga] = [as('ann'), as('bob'), as('olga', 'operator')]
  const calls: string[] = []
  for (const [who, name] of [
    [ann, 'ann'],
    [bob, 'bob'],
  ] as const)
    for (let i = 0; i < 3; i++)
      calls.push(
        (await who('POST /api/tools/app/hello/call', { arguments: { to: `${name}-${i}`, pin: '4711' } })).body.callId,
      )
  return { host, as, ann, bob, olga, calls }
}

describe('GET /api/audit', () => {
  it('returns the log entries of the user, newest first, by page', async () => {
    const { ann, calls, host } = await world()
    const { status, body } = await ann('GET /api/audit?action=mcp_tool_call')
    expect(status).toBe(200)
    expect(body.items).toHaveLength(6)
    expect(body.items[0]).toMatchObject({
      userId: 'ann',
      source: 'mcp:app',
      ref: 'app.hello',
      outcome: 'ok',
      callId: calls[2],
      at: expect.stringMatching(/^\d{4}-.*Z$/),
    })
    expect(body.items[1].detail.arguments).toEqual({ to: 'ann-2', pin: '•••' })
    const first = (await ann('GET /api/audit?action=mcp_tool_call&limit=4')).body
    const second = (await ann(`GET /api/audit?action=mcp_tool_call&limit=4&cursor=${first.nextCursor}`)).body
    expect([...first.items, ...second.items]).toEqual(body.items)
    expect(second.nextCursor).toBeUndefined()
    await host.close()
  })

  it('applies its filters', async () => {
    const { ann, calls, host } = await world()
    const count = async (query: string) => (await ann(`GET /api/audit?${query}`)).body.items.length
    expect(await count('toolkit=app&outcome=started')).toBe(3)
    expect(await count(`callId=${calls[0]}`)).toBe(2)
    expect(await count(`callId=${calls[3]}`)).toBe(0)
    expect(await count('ref=app.hello')).toBe(6)
    expect(await count('threadId=none')).toBe(0)
    expect(await count(`from=${new Date(Date.now() + 60_000).toISOString()}`)).toBe(0)
    expect(
      await count(`from=2020-01-01T00:00:00Z&to=${encodeURIComponent('2099-01-01T00:00:00+02:00')}`),
    ).toBeGreaterThan(5)
    for (const bad of ['from=yesterday', 'limit=0', 'limit=9999', 'format=xml', 'all=1'])
      expect((await ann(`GET /api/audit?${bad}`)).status).toBe(422)
    await host.close()
  })

  it('shows log entries of other users to operators only', async () => {
    const { ann, olga, host } = await world()
    expect((await ann('GET /api/audit?userId=ann')).status).toBe(200)
    for (const query of ['userId=bob', 'all=true', 'userId=bob&format=csv', 'all=true&format=jsonl', 'userId=nobody'])
      expect((await ann(`GET /api/audit?${query}`)).status).toBe(403)
    expect((await ann('GET /api/app/audit/verify')).status).toBe(403)
    const users = async (query: string) => [
      ...new Set(
        (await olga(`GET /api/audit?action=mcp_tool_call&${query}`)).body.items.map(
          (item: { userId: string }) => item.userId,
        ),
      ),
    ]
    expect(await users('userId=bob')).toEqual(['bob'])
    expect(await users('all=true')).toEqual(['bob', 'ann'])
    expect(await users('')).toEqual([])
    expect((await olga('GET /api/app/audit/verify')).body).toMatchObject({ ok: true })
    await host.close()
  })

  it('streams an export file in chunks', async () => {
    const host = createServices()
    for (let i = 0; i < 2500; i++) void host.audit.record({ userId: 'ann', action: '=1+1', detail: { i } })
    const app = createApp({ host, authenticate: () => ({ kind: 'session', userId: 'ann' }) })
    const csv = await app.request('/api/audit?format=csv')
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(csv.headers.get('content-disposition')).toBe('attachment; filename="audit.csv"')
    const lines = (await csv.text()).trimEnd().split('\r\n')
    expect(lines).toHaveLength(2501)
    expect(lines[1]).toContain(`"'=1+1"`)
    const jsonl = await (await app.request('/api/audit?format=jsonl')).text()
    const items = jsonl
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).detail.i)
    expect(items).toEqual(Array.from({ length: 2500 }, (_, i) => 2499 - i))
    await host.close()
  })
})

describe('audit retention and user removal', () => {
  it('follow the retention period that the operator sets', async () => {
    const { olga, ann, host } = await world()
    expect((await olga('PATCH /api/app/config', { audit: { retentionDays: 0 } })).status).toBe(422)
    expect((await olga('PATCH /api/app/config', { audit: { retentionDays: 90 } })).body.audit).toEqual({
      retentionDays: 90,
    })
    expect((await ann('PATCH /api/app/config', { audit: { retentionDays: 1 } })).status).toBe(403)
    await host.close()
  })

  it('remove a user and keep the log chain valid without them', async () => {
    const { olga, ann, bob, host } = await world()
    await ann('POST /api/threads', { id: 'trip', title: 'x' })
    expect((await bob('DELETE /api/users/ann')).status).toBe(403)
    expect((await ann('DELETE /api/users/ann')).status).toBe(403)
    const removed = await olga('DELETE /api/users/ann')
    expect(removed).toMatchObject({ status: 200, body: { rows: expect.any(Number), lines: 6 } })
    expect((await olga('DELETE /api/users/ann')).status).toBe(404)
    expect((await ann('GET /api/threads')).body.items).toEqual([])
    expect((await ann('GET /api/audit')).body.items).toEqual([])
    expect((await bob('GET /api/audit?action=mcp_tool_call')).body.items).toHaveLength(6)
    const all = await olga('GET /api/audit?all=true')
    expect(JSON.stringify(all.body)).not.toContain('ann')
    expect(all.body.items[0]).toMatchObject({ userId: 'olga', action: 'user_removed' })
    expect((await olga('GET /api/app/audit/verify')).body).toMatchObject({ ok: true })
    await host.close()
  })

  it('record created and revoked keys without their values', async () => {
    const { ann, host } = await world()
    const { id, key } = (await ann('POST /api/keys', { name: 'x' })).body
    await ann(`DELETE /api/keys/${id}`)
    const { items } = (await ann('GET /api/audit?limit=2')).body
    expect(items.map((item: { action: string }) => item.action)).toEqual(['api_key_revoked', 'api_key_made'])
    expect(JSON.stringify(items)).toContain(id)
    expect(JSON.stringify(items)).not.toContain(key)
    await host.close()
  })
})
