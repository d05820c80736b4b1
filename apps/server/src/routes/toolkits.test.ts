/** Concurrent changes of one toolkit: `If-Match` prevents overwriting an unread change. */
import { createServices } from '@loadout/core/services'
import { expect, it } from 'vitest'
import { createApp } from '../http/app.ts'

it.each([
  ['/api/mcp', 'user'],
  ['/api/app/toolkits', 'operator'],
] as const)(
  'a change with If-Match holds only where nobody changed the toolkit since it was read, on %s',
  async (at, role) => {
    const app = createApp({
      host: createServices(),
      authenticate: () => ({ kind: 'session', userId: 'ann', role }),
    })
    const send = (line: string, body: object, headers: Record<string, string> = {}) => {
      const [method = '', path = ''] = line.split(' ')
      const sent = { 'content-type': 'application/json', ...headers }
      return app.request(path, { method, headers: sent, body: JSON.stringify(body) })
    }
    await send(`POST ${at}`, { name: 'kit', url: 'https://kit.example.com/mcp', enabled: false })
    const etag = async () => (await app.request(`${at}/kit`)).headers.get('etag') ?? ''
    const read = await etag()
    expect(read).toMatch(/^"\d+"$/)
    const rename = (name: string, match?: string) =>
      send(`PATCH ${at}/kit`, { name }, match === undefined ? {} : { 'if-match': match })
    expect((await rename('First', read)).status).toBe(200)
    const late = await rename('Second', `W/${read}`)
    expect(late.status).toBe(409)
    expect(await late.json()).toMatchObject({
      code: 'conflict',
      detail: 'The toolkit was changed since you read it.',
      action: 'Read it again, then send your changes on top of it.',
    })
    expect(await (await app.request(`${at}/kit`)).json()).toMatchObject({ name: 'First' })
    expect((await rename('Second', await etag())).status).toBe(200)
    expect((await rename('Third')).status).toBe(200)
    const odd = await rename('Fourth', 'yesterday')
    expect([odd.status, (await odd.json()).errors[0].path]).toEqual([422, 'If-Match'])
  },
)
