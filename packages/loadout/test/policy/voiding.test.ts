/**
 * Which changes void what was remembered: every field of a manifest, a server, its auth and an override, by the schemas
 * themselves, so that a field that is added later is in here or this fails; and what does not.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { createServices, type HostServices } from '../../src/host/create-services.ts'
import { auth, httpServer, sseServer, stdioServer } from '../../src/schema/toolkit/server.ts'
import { toolManifest } from '../../src/schema/toolkit/tool.ts'
import { toolOverride } from '../../src/schema/toolkit/toolkit.ts'

const owner = { tier: 'user', userId: 'ann' } as const
const fieldsOf = (schema: z.ZodObject) => Object.keys(schema.shape).filter((field) => field !== 'type')
const manifest = { name: 'send', inputSchema: { type: 'object' } }

let host: HostServices
beforeEach(() => {
  host = createServices()
})
afterEach(() => host.close())

/** Whether a grant holds now, without a server being asked. */
async function remembered() {
  const stored = await host.toolkits.find('ann', 'kit')
  const found = (await host.catalog.tools('ann', [stored])).get(stored.uscoId)?.[0]
  return found && (await host.grants.remembered({ userId: 'ann', stored, found }))
}

async function grant(record: object, remember = 'tool') {
  await host.toolkits.register({ name: 'kit', tools: [manifest], ...record }, owner)
  const call = { userId: 'ann', toolkit: 'kit', tool: 'send', arguments: {}, caller: { type: 'direct' as const } }
  const running = host.calls.start({ ...call, signal: AbortSignal.timeout(5000) })
  await host.approvals.answer('ann', (await running.pending).id, { decision: 'allow', remember })
  await running.outcome
}

const isListedVoid = async () => (await host.grants.list('ann')).map((one) => one.void === true)

/** The record before, and what each field becomes. */
type Cases = Record<string, [before: object, after: object]>

const url = 'https://one.invalid/mcp'
const stdio = { type: 'stdio', command: '/nowhere' }
const STDIO: Cases = {
  command: [stdio, { ...stdio, command: '/elsewhere' }],
  args: [stdio, { ...stdio, args: ['--all'] }],
  env: [
    { ...stdio, env: { REGION: 'eu' } },
    { ...stdio, env: { REGION: 'us' } },
  ],
  cwd: [stdio, { ...stdio, cwd: '/tmp' }],
  hosts: [stdio, { ...stdio, hosts: ['api.example.com'] }],
  template: [stdio, { type: 'stdio', template: 'one' }],
  values: [
    { type: 'stdio', template: 'one', values: { folder: '/a' } },
    { type: 'stdio', template: 'one', values: { folder: '/b' } },
  ],
}
const remote = (more: object) => ({ type: 'http', url, ...more })
const HTTP: Cases = {
  url: [remote({}), remote({ url: 'https://two.invalid/mcp' })],
  headers: [remote({ headers: { 'X-Tenant': 'staging' } }), remote({ headers: { 'X-Tenant': 'production' } })],
  auth: [remote({}), remote({ auth: { type: 'bearer', token: 't' } })],
}
const SECRET_AUTH = ['clientSecret', 'privateKey', 'assertion', 'idpClientSecret', 'idToken']
const oauth = (more: object) => remote({ auth: { type: 'oauth', clientId: 'one', ...more } })
const OAUTH: Record<string, unknown> = {
  grant: 'client_credentials',
  clientId: 'two',
  clientSecret: 'secret-one',
  scopes: ['write'],
  privateKey: 'pem',
  algorithm: 'ES256',
  assertion: 'assertion',
  idpTokenEndpoint: 'https://idp.invalid/token',
  idpClientId: 'idp',
  idpClientSecret: 'idp-secret',
  idToken: 'id-token',
}
const OVERRIDE: Record<string, unknown> = {
  name: 'sends',
  title: 'Sends',
  description: 'It sends.',
  annotations: { destructiveHint: true },
  providerOptions: { x: 1 },
  enabled: true,
  deferLoading: false,
  allowedCallers: ['direct'],
  examples: ['send it to Bob'],
}

describe('a grant voided by a field', () => {
  const voids = (cases: Cases) =>
    it.each(Object.entries(cases))('%s', async (_, [before, after]) => {
      await grant(before)
      expect([await remembered(), await isListedVoid()]).toEqual(['allow', [false]])
      await host.toolkits.register({ name: 'kit', tools: [manifest], ...after }, owner)
      expect([await remembered(), await isListedVoid()]).toEqual([undefined, [true]])
      // What it was given for does not come back with the old record.
      await host.toolkits.register({ name: 'kit', tools: [manifest], ...before }, owner)
      expect([await remembered(), await isListedVoid()]).toEqual([undefined, [true]])
    })
  describe('of a stdio server', () => voids(STDIO))
  describe('of a remote server', () => voids({ ...HTTP, type: [remote({}), { type: 'sse', url }] }))
  describe('of headers that sign in', () => {
    const headers = (value: string) => remote({ auth: { type: 'headers', headers: { 'X-Org': value } } })
    voids({ headers: [headers('one'), headers('two')] })
  })
  describe('of OAuth', () =>
    voids(
      Object.fromEntries(
        Object.entries(OAUTH).map(([field, value]) => [field, [oauth({}), oauth({ [field]: value })]]),
      ),
    ))
  describe('of an override', () =>
    voids(
      Object.fromEntries(
        Object.entries(OVERRIDE).map(([field, value]) => [
          field,
          [remote({}), remote({ overrides: { send: { [field]: value } } })] as [object, object],
        ]),
      ),
    ))

  it('covers every field in the schemas', () => {
    const variant = (type: string) => auth.options.find((one) => one.shape.type.value === type) as z.ZodObject
    expect(Object.keys(STDIO).sort()).toEqual(fieldsOf(stdioServer).sort())
    expect(Object.keys(HTTP).sort()).toEqual(fieldsOf(httpServer).sort())
    expect(fieldsOf(sseServer)).toEqual(fieldsOf(httpServer))
    expect(Object.keys(OAUTH).sort()).toEqual(fieldsOf(variant('oauth')).sort())
    expect(fieldsOf(variant('bearer'))).toEqual(['token'])
    expect(fieldsOf(variant('headers'))).toEqual(['headers'])
    expect(auth.options.map((one) => one.shape.type.value).sort()).toEqual(['bearer', 'headers', 'none', 'oauth'])
    expect(Object.keys(OVERRIDE).sort()).toEqual(fieldsOf(toolOverride).sort())
  })
})

describe('a grant voided by a manifest field', () => {
  const MANIFEST: Record<string, object> = {
    title: { title: 'Another' },
    description: { description: 'Another.' },
    inputSchema: { inputSchema: { type: 'object', properties: { cc: { type: 'string' } } } },
    outputSchema: { outputSchema: { type: 'object' } },
    annotations: { annotations: { openWorldHint: false } },
  }
  const register = async (more: object) => {
    const tool = { ...manifest, execute: () => 'sent', ...more }
    await host.toolkits.register({ name: 'kit', tools: [tool] }, owner)
    const stored = await host.toolkits.find('ann', 'kit')
    await host.catalog.introspect(stored, 'ann')
    await host.catalog.accept(stored, { userId: 'ann' })
  }
  it('covers every field except the name, which identifies another tool, and pictures and metadata', () => {
    const fields = ['name', 'icons', '_meta', ...Object.keys(MANIFEST)]
    expect(fields.sort()).toEqual(fieldsOf(toolManifest).sort())
  })
  for (const remember of ['tool', 'toolkit'])
    it.each(Object.entries(MANIFEST))(`%s (for the ${remember})`, async (_, change) => {
      await register({})
      const call = { userId: 'ann', toolkit: 'kit', tool: 'send', arguments: {}, caller: { type: 'direct' as const } }
      const running = host.calls.start(call)
      await host.approvals.answer('ann', (await running.pending).id, { decision: 'allow', remember })
      await running.outcome
      expect(await remembered()).toBe('allow')
      await register(change)
      expect(await remembered()).toBeUndefined()
      await register({})
      expect(await remembered()).toBeUndefined()
    })
})

describe('a valid grant', () => {
  const headers = { 'X-Api-Key': 'first', 'X-Tenant': 'staging', Authorization: 'Bearer one' }
  const base = remote({ headers, auth: { type: 'oauth', clientId: 'one', clientSecret: 'first' } })
  it.each([
    ['a label', { name: 'Renamed' }],
    ['an account', { account: 'mine' }],
    ['the switch', { enabled: false }],
    ['a timeout', { timeouts: { callMs: 5 } }],
    ['a rotated secret, by its name', { headers: { ...headers, 'X-Api-Key': 'second' } }],
    ['a rotated secret, by its form', { headers: { ...headers, Authorization: 'Bearer two' } }],
    ['the same again', base],
  ])('%s', async (_, change) => {
    await grant(base)
    expect(await remembered()).toBe('allow')
    await host.toolkits.update('kit', change, owner)
    expect(await remembered()).toBe('allow')
  })

  it.each(SECRET_AUTH)('survives another %s', async (field) => {
    await grant(oauth({ [field]: 'first' }))
    await host.toolkits.update('kit', { auth: { type: 'oauth', clientId: 'one', [field]: 'second' } }, owner)
    expect(await remembered()).toBe('allow')
  })

  it('survives a rotated secret in a command argument', async () => {
    await grant({ ...stdio, args: ['--token', 'first-one'] })
    await host.toolkits.update('kit', { args: ['--token', 'second-one'] }, owner)
    expect(await remembered()).toBe('allow')
  })

  it('replaces a void one', async () => {
    await grant(HTTP.headers?.[0] ?? {})
    await grant(HTTP.headers?.[1] ?? {})
    expect([await remembered(), await isListedVoid()]).toEqual(['allow', [false]])
  })
})
