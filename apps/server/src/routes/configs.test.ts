/** Stored tools of a config, including inactive tools with their reason. */
import { createServices, type HostServices } from '@loadout/core/services'
import { afterEach, expect, it } from 'vitest'
import { LOCAL } from '../auth/authenticate.ts'
import { createApp } from '../http/app.ts'

let host: HostServices
afterEach(() => host.close())

it('removed and invalid tools are listed as inactive with the reason', async () => {
  host = createServices()
  const app = createApp({ host, authenticate: () => LOCAL })
  const request = async (method: string, path: string, body?: unknown) => {
    const json = { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
    return (await app.request(path, { method, ...(body === undefined ? {} : json) })).json()
  }
  const tool = (name: string, inputSchema: object = { type: 'object' }) => ({ name, inputSchema, execute: 'return 1' })
  const save = async (tools: object[], uscoId?: string) => {
    const body = { name: 'mine', config_json: { tools }, ...(uscoId === undefined ? {} : { uscoId }) }
    const { usco_id } = await request('POST', '/api/mcp/config', body)
    await request('POST', '/api/mcp/config/introspect', { uscoId: usco_id })
    return usco_id as string
  }
  const odd = tool('odd', { type: 'object', properties: { a: { type: 'object', 'x-mcp-header': 'A' } } })
  const uscoId = await save([tool('stays'), tool('goes'), odd])
  await save([tool('stays'), odd], uscoId)

  const { tools, cached } = await request('GET', `/api/mcp/config/tools?uscoId=${uscoId}`)
  expect(cached).toBe(true)
  expect(tools.mine).toEqual([
    { name: 'stays', inputSchema: { type: 'object' }, is_active: true },
    { name: 'goes', inputSchema: { type: 'object' }, is_active: false, reason: 'the server no longer lists it' },
    expect.objectContaining({ name: 'odd', is_active: false, reason: expect.stringContaining('headers') }),
  ])
  expect((await request('GET', '/api/mcp/config/tools')).tools).toEqual(tools)
})
