/** The root entry at work in a page: the same host, the same toolkits, a browser's storage and key. */
import { expect, it } from 'vitest'
import { browserKeyRing, createHost } from '../index.ts'
import { withExecutionContext } from '../services.ts'
import { indexedDb } from '../storage/indexeddb.ts'

it('a host in a browser keeps toolkits and their secrets over a reload', async () => {
  const database = `host-${crypto.randomUUID()}`
  const openHost = () =>
    createHost({ storage: indexedDb({ database }), keyRing: () => browserKeyRing({ database: `${database}-keys` }) })
  const first = openHost()
  const input = { name: 'Search', url: 'https://search.example/mcp', headers: { 'X-Key': 's3cret' } }
  const { stored } = await first.user('ann').toolkits.add(input)
  await first.close()
  const again = openHost()
  const { toolkits, credentials } = again.services
  expect((await toolkits.list('ann')).map(({ toolkit }) => toolkit.server)).toMatchObject([
    { headers: { 'X-Key': '${secret:headers.X-Key}' } },
  ])
  expect(await again.user('bob').toolkits.list()).toEqual([])
  expect(await credentials.open({ userId: 'ann', toolkit: stored.uscoId })).toEqual({ 'headers.X-Key': 's3cret' })
  await again.close()
})

it('withExecutionContext passes the context to its callback in a browser', () => {
  const user = withExecutionContext(
    { principal: { kind: 'session', userId: 'ann' } },
    (context) => context.scope.userId,
  )
  expect(user).toBe('ann')
})
