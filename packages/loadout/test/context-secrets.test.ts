/** Secrets of what a context carries: nobody who logs or copies it has them, and the server gets them all the same. */
import { inspect } from 'node:util'
import { afterEach, expect, it } from 'vitest'
import { nodeDrivers } from '../src/connections/node-drivers.ts'
import { createExecutionContext } from '../src/context.ts'
import { createServices, type HostServices } from '../src/host/create-services.ts'
import { rule } from '../src/policy/rules.ts'
import { type HttpFaultServer, startFaultServer } from './fixtures/fault-http.ts'

const SECRETS = [
  'tok-of-ann-1',
  'env-of-ann-2',
  'header-of-ann-3',
  'sk-0123456789abcdefghij-4',
  'key-of-ann-5-0123456789',
]
const principal = { kind: 'session' as const, userId: 'ann' }
const closers: Array<() => Promise<void>> = []
afterEach(async () => void (await Promise.all(closers.splice(0).map((close) => close()))))

const TOOLKITS = (url: string) => ({
  web: {
    url: `${url}?api_key=${SECRETS[4]}`,
    headers: { 'X-Key': SECRETS[2] },
    auth: { type: 'bearer', token: SECRETS[0] },
  },
  local: { command: 'npx', args: ['--token', SECRETS[3], 'plain'], env: { API_KEY: SECRETS[1] } },
})

function leaksOf(value: unknown): string[] {
  const texts = [JSON.stringify(value), inspect(value, { depth: 9 }), JSON.stringify({ ...(value as object) })]
  return SECRETS.filter((secret) => texts.some((text) => text.includes(secret)))
}

it('context secrets are absent from logs, copies and clones, and other values stay readable', () => {
  const context = createExecutionContext({ principal, toolkits: TOOLKITS('http://x.example/mcp') })
  expect(leaksOf(context)).toEqual([])
  expect(leaksOf(structuredClone({ ...context, signal: undefined }))).toEqual([])
  expect(context.toolkits.local?.server).toMatchObject({
    command: 'npx',
    args: ['--token', expect.any(String), 'plain'],
  })
  expect(JSON.stringify(context.toolkits.web)).toContain('${secret:carried.auth.token}')
})

async function worldOf(): Promise<{ host: HostServices; server: HttpFaultServer }> {
  const server = await startFaultServer({})
  const host = createServices({
    policy: [rule('*', 'allow')],
    drivers: nodeDrivers({ guard: { privateNetwork: true } }),
  })
  closers.push(
    () => host.close(),
    () => server.close(),
  )
  return { host, server }
}

it('context secrets reach the server, even through a derived context and next to a stored secret', async () => {
  const { host, server } = await worldOf()
  await host.toolkits.register(
    { name: 'store', url: 'http://x.example', auth: { type: 'bearer', token: 'stored-of-ann' }, enabled: false },
    { tier: 'user', userId: 'ann' },
  )
  const [stored] = await host.toolkits.list('ann')
  const { web } = TOOLKITS(server.url)
  const headers = { ...web.headers, 'X-Ref': 'by ${secret:MINE}' }
  const first = createExecutionContext({
    principal,
    toolkits: { web: { ...web, headers } },
    secrets: { MINE: { toolkit: stored?.uscoId ?? '', field: 'auth.token' } },
  })
  const second = createExecutionContext({ principal, toolkits: first.toolkits, secrets: first.secrets })
  expect(JSON.stringify(second)).toContain('by ${secret:MINE}')
  for (const context of [first, second]) {
    server.requests.length = 0
    const invocation = await host.setupToolkits(['web'], { context })
    expect(invocation.failedToolkits).toEqual([])
    expect(await invocation.call({ name: 'web.echo', arguments: {} })).toMatchObject({ status: 'ok' })
    const sent = server.requests.find(({ rpc }) => rpc === 'tools/call')?.headers
    expect(sent).toMatchObject({
      authorization: `Bearer ${SECRETS[0]}`,
      'x-key': SECRETS[2],
      'x-ref': 'by stored-of-ann',
    })
    await invocation.close()
  }
})
