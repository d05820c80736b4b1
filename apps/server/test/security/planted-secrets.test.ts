/** Secrets of every form on every way that they can take through a real server: none is told on any of its channels. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type LeakyServer, startLeakyServer } from '../../../../test/leaky-http.ts'
import { type Answer, type Ask, CHANNELS, type Channel, listenToServer } from '../support/channels.ts'

const STDIO = new URL('../../../../test/leaky-stdio.ts', import.meta.url).pathname
/** Characters that JSON and URLs write in another way, so that a secret has forms. */
const ODD = ' "\\&=+/%é'

const planted = new Map<string, string>()
function plant(place: string, value = `planted-${crypto.randomUUID()}`): string {
  planted.set(`${planted.size + 1} ${place}`, value)
  return value
}
const plantOdd = (place: string) => plant(place, `planted${ODD}${crypto.randomUUID()}`)
const random = (length: number, letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789') =>
  Array.from(crypto.getRandomValues(new Uint8Array(length)), (byte) => letters[byte % letters.length]).join('')

/** A secret as it is, and as it could be written. Of base64 what is the same however long its text goes on. */
function formsOf(secret: string): Record<string, string> {
  const base64 = (offset: number) => {
    const text = Buffer.from(`${'x'.repeat(offset)}${secret}`)
      .toString('base64')
      .replaceAll('=', '')
    return text.slice(offset === 0 ? 0 : offset + 1, -2)
  }
  return {
    plain: secret,
    json: JSON.stringify(secret).slice(1, -1),
    url: encodeURIComponent(secret),
    form: new URLSearchParams({ a: secret }).toString().slice(2),
    base64: base64(0),
    'base64 after one': base64(1),
    'base64 after two': base64(2),
    base64url: Buffer.from(secret).toString('base64url').slice(0, -2),
  }
}

type ChannelTexts = Record<Channel, string>

function leaksIn(texts: ChannelTexts, secrets: ReadonlyMap<string, string> = planted): string[] {
  return [...secrets].flatMap(([place, secret]) =>
    Object.entries(formsOf(secret)).flatMap(([form, text]) =>
      CHANNELS.filter((channel) => texts[channel].includes(text)).map((channel) => `${place}: ${form} in ${channel}`),
    ),
  )
}

/** What all of it must have come to: else a server did not misbehave as it should. */
const CODES = [
  'invalid-input',
  'invalid-json',
  'secret-missing',
  'unauthenticated',
  'conflict',
  'denied',
  'spawn-failed',
  'server-crashed',
  'server-unreachable',
  'protocol-error',
  'credentials-refused',
  'rate-limited',
]

let server: LeakyServer
let ask: Ask
let texts: ChannelTexts
/** What tools answered to their callers. */
const results: string[] = []
const callIds: string[] = []

const local = (how: string, more: { env?: object; args?: readonly string[] } = {}) => ({
  name: `${how}-local`,
  command: process.execPath,
  args: [STDIO, how, ...(more.args ?? [])],
  env: more.env ?? { API_TOKEN: plantOdd(`env of a server that ${how}`) },
})
const remote = (how: string, more: object = {}) => ({
  name: `${how}-remote`,
  url: `${server.url}/${how}?token=${encodeURIComponent(plantOdd(`query of a server that is ${how}`))}`,
  headers: { 'X-Key': plant(`header of a server that is ${how}`) },
  ...more,
})

async function call(tool: string, args: object, headers?: Record<string, string>): Promise<Answer> {
  const answer = await ask(
    `POST /api/tools/${tool}/call?key=${plant('query of a request')}`,
    { arguments: args },
    headers,
  )
  if (answer.status === 200) results.push(answer.text)
  if (answer.body?.callId) callIds.push(answer.body.callId)
  return answer
}

const ended = (callId: string) =>
  vi.waitUntil(async () => (await ask(`GET /api/calls/${callId}`)).status !== 202, { timeout: 60_000 })

/** Servers that behave, and the arguments of their calls. */
async function useTheGood(): Promise<void> {
  const token = plantOdd('env, equal to an argument')
  const url = `postgres://ann:${plant('password of a URL in env')}@db.example/x`
  const env = { API_TOKEN: token, DATABASE_URL: url, NOTE: plant('env of another kind', `two\n${crypto.randomUUID()}`) }
  const args = ['--token', plant('argument of a command'), `--password=${plantOdd('argument of a command by name')}`]
  await ask('POST /api/mcp', local('tells', { env, args: [...args, plant('bare argument', `sk-${random(32)}`)] }))
  const basic = Buffer.from(`ann:${plant('password in basic authorisation')}`).toString('base64')
  await ask(
    'POST /api/mcp',
    remote('tells', { headers: { Authorization: `Basic ${basic}`, 'X-Note': plant('header') } }),
  )
  await ask('POST /api/mcp', remote('fails', { auth: { type: 'bearer', token: plant('bearer token') } }))
  await ask('POST /api/mcp', local('fails'))
  const secrets = {
    password: plantOdd('argument by name'),
    card: plantOdd('argument by writeOnly'),
    pin: plant('argument by format'),
    inner: { deep: { word: plant('deep argument') }, api_key: plant('inner argument by name') },
    list: [plant('argument in a list')],
  }
  const jwt = `eyJhbGciOiJIUzI1NiJ9.${random(40)}.${random(30)}`
  const forms = [`ghp_${random(36)}`, `AKIA${random(16)}`, jwt, `sk-${random(40)}`].map((one) =>
    plant('argument by form', one),
  )
  const notes = [token, `the token is ${token}, ok?`, Buffer.from(token).toString('base64'), encodeURIComponent(token)]
  const basicNote = `Basic ${Buffer.from(`ann:${token}`).toString('base64')}`
  // The token is the local toolkit's own; keys by their form are masked for any toolkit.
  for (const note of [...notes, basicNote, JSON.stringify({ token })])
    await call('tells-local/do', { ...secrets, note })
  for (const form of forms)
    for (const tool of ['tells-local/do', 'tells-remote/do']) await call(tool, { ...secrets, note: `take ${form}.` })
  for (const tool of ['fails-local/do', 'fails-remote/do']) await call(tool, secrets)
}

/** Servers that fail, each in a way of its own, and say what they know as they do. */
async function useTheBad(): Promise<void> {
  const ways = ['unauthorised', 'broken', 'moved', 'busy', 'garbled', 'streamed', 'html']
  const far = ['throws', 'quotes', ...ways, ...ways.map((way) => `${way}-late`)].map((how) => remote(how))
  const near = ['throws', 'quotes', 'dies', 'dies-at-once', 'babbles'].map((how) => local(how))
  const database = `postgres://ann:${plant('password in env, told by itself')}@db.example/x`
  const basic = Buffer.from(`ann:${plantOdd('password of a user, told by itself')}`).toString('base64')
  const parts = [
    { ...local('throws', { env: { DATABASE_URL: database } }), name: 'database' },
    { ...local('throws', { args: ['--token', plantOdd('argument of a command that throws')] }), name: 'argument' },
    { ...remote('throws', { headers: { Authorization: `Basic ${basic}` } }), name: 'basic' },
    { ...remote('throws', { headers: { Authorization: `Bearer ${plant('token in a header')}` } }), name: 'header' },
    { ...remote('throws', { auth: { type: 'bearer', token: plant('token that is thrown') } }), name: 'bearer' },
  ]
  const user = encodeURIComponent(plantOdd('user of a URL'))
  const nobody = `http://${user}:${plant('password of a URL')}@127.0.0.1:1/x?api_key=${plant('query of nobody')}`
  const absent = {
    name: 'absent',
    command: `/nowhere/${crypto.randomUUID()}`,
    env: { KEY: plant('env of no command') },
  }
  for (const record of [...far, ...near, ...parts, { name: 'nobody', url: nobody }, absent]) {
    await ask('POST /api/mcp', record)
    const args = { password: plant(`argument to ${record.name}`), pin: plantOdd(`pin for ${record.name}`) }
    await call(`${record.name}/do`, args)
    await call(`${record.name}/do`, args, { accept: 'text/event-stream' })
    await ask(`GET /api/mcp/${record.name}/output`)
  }
}

/** What a request itself can get wrong. */
async function useWrongly(): Promise<void> {
  const bad = {
    count: plant('not a number'),
    colour: plantOdd('not in a list'),
    shape: plantOdd('not of a pattern'),
    short: plant('too long'),
  }
  for (const [name, value] of Object.entries(bad)) await call('tells-local/do', { [name]: value })
  await call('tells-local/do', { pin: { nested: plant('not of its type') } })
  await ask('POST /api/mcp', `{"name": "x", "env": {"A": "${plant('broken JSON')}"`)
  await ask('POST /api/mcp', { name: 'x', command: 'x', env: [plant('env of a wrong type')] })
  await ask('POST /api/mcp', {
    name: 'x',
    url: `nonsense ${plant('no URL')}`,
    headers: { 'X-Key': plant('header of none') },
  })
  await ask('POST /api/mcp', { name: 'x', url: 'http://x', auth: { type: plant('no kind of auth') } })
  await ask('PATCH /api/mcp/tells-local', { env: { API_TOKEN: `\${secret:${plant('no such placeholder')}}` } })
  await ask('GET /api/mcp', undefined, { authorization: `Bearer ${plant('wrong API key', `lo_${random(40)}`)}` })
  const key = { 'idempotency-key': plant('idempotency key') }
  for (const note of ['one', 'another']) await call('throws-remote/do', { note, password: plant('kept call') }, key)
  const { body } = await ask('POST /api/tools/throws-local/do/call', { arguments: {}, wait: false })
  await ended(body.callId)
}

/** Approvals, grants, threads, imports: where arguments and records are shown. */
async function useAround(): Promise<void> {
  const edited = () => ({ password: plantOdd('edited argument by name'), card: plant('edited argument by writeOnly') })
  const args = () => ({ password: plantOdd('argument that is asked about'), card: plant('card that is asked about') })
  for (const decision of ['deny', 'allow']) {
    const { body } = await call('tells-local/pay', args())
    await ask(`GET /api/approvals/${body.approval.id}`)
    const edited = { decision, ...(decision === 'allow' ? { remember: 'tool' } : {}) }
    await ask(`POST /api/approvals/${body.approval.id}/answer`, edited)
    await ended(body.callId)
  }
  await ask('PUT /api/policy', { rules: [{ pattern: 'tells-remote.pay', decision: 'ask', allowEdits: true }] })
  for (const edit of [
    {},
    { arguments: { note: 'edited', ...edited() } },
    { arguments: { colour: plantOdd('bad edit') } },
  ]) {
    const { body } = await call('tells-remote/pay', args())
    await ask(`POST /api/approvals/${body.approval.id}/answer`, { decision: 'allow', ...edit })
    await ask(`POST /api/approvals/${body.approval.id}/answer`, { decision: 'deny' })
    await ended(body.callId)
  }
  await ask('GET /api/approvals')
  await ask('PUT /api/policy', { rules: [] })
  const servers = {
    imported: { command: 'x', args: ['--token', plant('imported argument')], env: { A: plant('imported') } },
  }
  await ask('POST /api/mcp/import', { config: { mcpServers: servers } })
  await ask('POST /api/mcp/import', { text: JSON.stringify({ mcpServers: servers }) })
  const saved = { name: 'saved', config_json: { command: 'x', env: { A: plant('saved config') } } }
  await ask('POST /api/mcp/config', saved)
  await ask('POST /api/threads', { id: 'thread' })
  const views = ['mcp', 'mcp/export', 'mcp/config', 'mcp/config/tools', 'approvals', 'grants', 'threads/thread/explain']
  for (const view of [...views, 'usage', 'app/toolkits', 'policy', 'inputs']) await ask(`GET /api/${view}`)
}

beforeAll(async () => {
  server = await startLeakyServer()
  const file = { mcpServers: { filed: { ...local('tells'), env: { API_TOKEN: plant('env in a file') } } } }
  const env = { LOADOUT_WEBHOOK_SECRET: plant('the webhook’s own') }
  const listened = await listenToServer(env, [JSON.stringify(file)])
  ask = listened.ask
  await useTheGood()
  await useTheBad()
  await useWrongly()
  await useAround()
  await call('filed/do', { password: plant('argument to a global server') })
  texts = await listened.end()
})
afterAll(() => server.close())

it('no secret appears in audit, logs, metrics, events, traces, errors, views or rows, in any form', () => {
  expect(planted.size).toBeGreaterThan(100)
  expect(leaksIn(texts)).toEqual([])
})

describe('the leak test', () => {
  it('finds masks where tools returned their secrets to their callers', () => {
    const all = results.join('\n')
    expect(all).toContain('•••')
    for (const place of ['env, equal to an argument', 'argument of a command', 'header', 'env in a file']) {
      const [, secret = ''] = [...planted].find(([name]) => name.endsWith(` ${place}`)) ?? []
      expect(
        Object.values(formsOf(secret)).some((form) => all.includes(form)),
        place,
      ).toBe(false)
    }
    const sent = server.bodies('tells').join('\n')
    for (const [place, secret] of planted)
      if (/ (edited )?argument by /.test(place)) expect(sent, place).toContain(JSON.stringify(secret).slice(1, -1))
  })

  it('covers every channel and finds the calls in each', () => {
    expect(callIds.length).toBeGreaterThan(20)
    for (const id of callIds)
      for (const channel of ['audit', 'logs', 'traces'] as const) expect(texts[channel]).toContain(id)
    for (const toolkit of ['tells-local', 'tells-remote', 'throws-local']) {
      expect(texts.metrics).toMatch(new RegExp(`loadout_calls_ended_total\\{.*toolkit="${toolkit}"`))
      expect(texts.events).toContain(toolkit)
    }
    for (const word of ['approval-requested', 'state-changed', 'x-loadout-signature'])
      expect(texts.events).toContain(word)
    for (const code of CODES) expect(texts.errors).toContain(`problem:${code}`)
    expect(texts.views).toContain('${secret:env.API_TOKEN}')
    expect(texts.audit).toContain('•••')
    for (const table of ['approvals', 'credentials', 'audit', 'grants']) expect(texts.rows).toContain(`${table} {`)
  })

  it('finds a leak in any form on any channel', () => {
    const secret = plantless()
    for (const channel of CHANNELS)
      for (const [form, text] of Object.entries(formsOf(secret))) {
        const leaking = { ...texts, [channel]: `${texts[channel]} before${text}after` }
        expect(leaksIn(leaking, new Map([['one', secret]]))).toContain(`one: ${form} in ${channel}`)
      }
    const basic = Buffer.from(`user:${secret}`).toString('base64')
    expect(leaksIn({ ...texts, logs: basic }, new Map([['one', secret]]))).not.toEqual([])
  })
})

const plantless = () => `planted${ODD}${crypto.randomUUID()}`
