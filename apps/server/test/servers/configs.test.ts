/** `POST /api/mcp/config`: what a record is, is read from the whole of it, however it is written. */
import { quickjs } from '@loadout/core/code-mode/quickjs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Ask, type MultiUserApp, multiUserApp } from '../support/multi-user-app.ts'

let app: MultiUserApp
let ann: Ask
beforeAll(() => {
  app = multiUserApp({ executor: quickjs() })
  ann = app.as('ann')
})
afterAll(() => app.host.close())

const url = 'https://a.example/mcp'
const command = 'npx'
const tools = [{ name: 'one', inputSchema: { type: 'object' }, execute: 'return 1' }]
const known = { one: { inputSchema: { type: 'object' } } }

/** A record, what it is, and what it is not. */
const RECORDS: Record<string, [record: object, right: string, wrong: string]> = {
  'a bare url': [{ url }, 'mcp_http', 'mcp_stdio'],
  'transport { kind, spec }': [{ transport: { kind: 'http', spec: { url } } }, 'mcp_http', 'mcp_stdio'],
  'server { url }': [{ server: { url } }, 'mcp_http', 'mcp_stdio'],
  'connection { url }': [{ transport: 'http', connection: { url } }, 'mcp_http', 'mcp_stdio'],
  'transportSpec with tools known in advance': [{ transportSpec: { command }, tools: known }, 'mcp_stdio', 'custom'],
  'a url with tools known in advance': [{ url, tools: known }, 'mcp_http', 'custom'],
  'server { tools }': [{ server: { type: 'custom', tools } }, 'custom', 'mcp_stdio'],
}

for (const [name, [config_json, right, wrong]] of Object.entries(RECORDS))
  it(`config_type must match the record: ${name}`, async () => {
    const record = { name, config_json: { ...config_json, enabled: false } }
    expect(await ann('POST /api/mcp/config', { ...record, config_type: wrong })).toMatchObject({
      status: 422,
      body: { errors: [{ path: 'config_type', message: expect.stringContaining(`describes "${right}"`) }] },
    })
    const saved = await ann('POST /api/mcp/config', { ...record, config_type: right })
    expect(saved.status).toBe(200)
    const { body } = await ann('GET /api/mcp/config')
    expect(body.configs).toContainEqual(
      expect.objectContaining({ usco_id: saved.body.usco_id, name, config_type: right }),
    )
  })

it('a config whose server is not in the marketplace is rejected by its field', async () => {
  const config = { name: 'market', config_json: { url, enabled: false } }
  for (const server_id of ['serv_nope', ''])
    expect(await ann('POST /api/mcp/config', { ...config, server_id })).toMatchObject({
      status: 422,
      body: { errors: [{ path: 'server_id' }] },
    })
  expect(await ann('POST /api/mcp/config', { ...config, config_type: 'mcp_marketplace' })).toMatchObject({
    status: 422,
    body: { errors: [{ path: 'config_type' }] },
  })
  const { body } = await ann('GET /api/mcp/config')
  expect(body.configs.map(({ name }: { name: string }) => name)).not.toContain('market')
  expect((await ann('POST /api/mcp/config', { ...config, server_id: null })).status).toBe(200)
})
