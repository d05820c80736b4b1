/** Ordinary words and real-looking keys of a toolkit's environment, through every place that shows what its server said. */
import { fileURLToPath } from 'node:url'
import { nodeDrivers } from '@loadout/core/node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Ask, type MultiUserApp, multiUserApp } from '../support/multi-user-app.ts'

const SPEAKING = fileURLToPath(
  new URL('../../../../packages/loadout/test/fixtures/env-echo-server.ts', import.meta.url),
)

const ORDINARY = {
  DEBUG: 'true',
  LOG_LEVEL: 'info',
  MIN_LEVEL: 'error',
  NEO4J_USERNAME: 'neo4j',
  DATA_DIR: '/data',
  SSH_KEY_PATH: '/home/ann/.ssh/id_ed25519',
  GRAFANA_URL: 'https://grafana.example.com/d/abc',
  MCP_HOST: 'mcp.example.com',
}
const SECRET = {
  GITHUB_TOKEN: 'ghp_16C7e42F292c6912E7710c838347Ae178B4a',
  OPENAI_API_KEY: 'sk-proj-4f9Ab27cD18eE35fF60a',
  DB_PASSWORD: 'correct-horse-battery',
  UNNAMED: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b',
}
/** A key that is a secret by its form alone, in an option that is none. */
const OPTIONS = { OPTIONS: '--verbose --use ghp_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R --level info' }
const [, KEY_IN_OPTIONS = ''] = /--use (\S+)/.exec(OPTIONS.OPTIONS) ?? []
/** A text that the words of other servers would destroy. */
const TEXT = "open '/data/information-error.txt': pass overwrite=true to read_neo4j_cypher"

let app: MultiUserApp
let ann: Ask
const record = (name: string, env: object) => ({ name, command: process.execPath, args: [SPEAKING], env })

beforeAll(async () => {
  app = multiUserApp({ drivers: nodeDrivers({ baseEnv: { PATH: '/usr/bin:/bin' } }) })
  ann = app.as('ann')
  await ann('POST /api/mcp', record('kit', { ...ORDINARY, ...SECRET, ...OPTIONS }))
  await ann('POST /api/mcp', record('other', { OTHER_TOKEN: 'overwrite-overwrite', MODE: 'cypher' }))
  await ann('POST /api/tools/other/say/call', { arguments: {} })
})
afterAll(() => app.host.close())

const say = async (how: string, toolkit = 'kit') =>
  (await ann(`POST /api/tools/${toolkit}/say/call`, { arguments: { how, text: TEXT, author: 'Ann', key: 'PROJ-1' } }))
    .body as object

function expectMasked(shown: unknown, text = TEXT): void {
  const shownText = JSON.stringify(shown)
  expect(shownText).toContain(text)
  for (const [name, value] of Object.entries(ORDINARY)) expect(shownText, name).toContain(`${name}=<${value}>`)
  for (const [name, value] of Object.entries(SECRET)) {
    expect(shownText, name).toContain(`${name}=<•••>`)
    expect(shownText, name).not.toContain(value)
  }
  expect(shownText).not.toContain(KEY_IN_OPTIONS)
}

describe('server output about its environment', () => {
  it.each(['ok', 'tool-error', 'error', 'log'])('masks keys and keeps ordinary words in an answer: %s', async (how) => {
    const body = await say(how)
    expectMasked(body)
  })

  it('masks keys and keeps ordinary words in the server output', async () => {
    await say('log')
    const { body } = await ann('GET /api/mcp/kit/output')
    const lines = (body as { items: Array<{ source: string; text: string }> }).items
    expectMasked(
      lines.find(({ source }) => source === 'stderr'),
      'started with',
    )
    expectMasked(lines.find(({ source }) => source === 'log'))
  })

  it.each(['ok', 'tool-error', 'error'])('masks a key of an option without the words around it: %s', async (how) => {
    const text = `used ${KEY_IN_OPTIONS} at level info`
    const { body } = await ann('POST /api/tools/kit/say/call', { arguments: { how, text } })
    expect(JSON.stringify(body)).toContain('used ••• at level info')
    expect(JSON.stringify(body)).not.toContain(KEY_IN_OPTIONS)
  })

  it.each([
    ['a list of resources', 'GET /api/mcp/kit/resources'],
    ['a list of templates', 'GET /api/mcp/kit/resources/templates'],
    ['a resource', 'GET /api/mcp/kit/resources/read?uri=text%3A%2F%2Fone'],
    ['a list of prompts', 'GET /api/mcp/kit/prompts'],
    ['a prompt', 'POST /api/mcp/kit/prompts/one', { arguments: {} }],
    [
      'a suggestion',
      'POST /api/mcp/kit/complete',
      { ref: { prompt: 'one' }, argument: { name: 'a', value: '' }, arguments: {} },
    ],
  ] as const)('masks keys and keeps ordinary words in %s', async (_, route, sent?: object) => {
    const { body } = await ann(route, sent)
    expectMasked(body, 'DEBUG=<true>')
  })

  it('masks keys and keeps ordinary words in the arguments of the audit log', async () => {
    const text = Object.entries({ ...ORDINARY, ...SECRET }).map(([name, value]) => `${name}=<${value}>`)
    const args = { how: 'ok', text: text.slice(0, 8).join(' '), author: 'Ann', key: 'PROJ-1', more: text.slice(8) }
    await ann('POST /api/tools/kit/say/call', { arguments: args })
    const { body } = await ann('GET /api/audit')
    const [entry] = (
      body as { items: Array<{ outcome: string; detail: { arguments?: { more?: unknown } } }> }
    ).items.filter(({ detail }) => detail.arguments?.more !== undefined)
    expectMasked(entry, '"author":"Ann","key":"PROJ-1"')
  })

  it('marks only secret fields as secrets, in the toolkit and in an export', async () => {
    const { body } = await ann('GET /api/mcp')
    const [kit] = (body as { toolkits: Array<{ id: string; secretFields: string[] }> }).toolkits
    const byName = ['env.DB_PASSWORD', 'env.GITHUB_TOKEN', 'env.OPENAI_API_KEY']
    expect(kit?.secretFields.toSorted()).toEqual(byName)
    const exported = (await ann('GET /api/mcp/export?format=vscode')).body as {
      inputs: Array<{ id: string; password: boolean }>
    }
    const passwords = exported.inputs.filter(({ password }) => password).map(({ id }) => `env.${id}`)
    expect(passwords.toSorted()).toEqual([...byName, 'env.OTHER_TOKEN'].toSorted())
    expect(JSON.stringify(exported)).not.toMatch(/ghp_16C7|correct-horse/)
  })
})

it('masking hides no value of another toolkit, deleted or not', async () => {
  const text = 'overwrite-overwrite in cypher'
  const call = async () => (await ann('POST /api/tools/kit/say/call', { arguments: { how: 'tool-error', text } })).body
  expect(JSON.stringify(await call())).toContain(text)
  await ann('DELETE /api/mcp/other')
  expect(JSON.stringify(await call())).toContain(text)
})

it('masking keeps a key in a result that is not the toolkit’s own', async () => {
  const text = 'created ghp_ABCDefgh0123456789ABCDefgh0123456789'
  const { body } = await ann('POST /api/tools/kit/say/call', { arguments: { how: 'ok', text } })
  expect(JSON.stringify(body)).toContain(text)
})
