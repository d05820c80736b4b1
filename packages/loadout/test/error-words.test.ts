/** Errors that name what differs and what to do: redirects, unknown certificates, issuers (G11), crashes (R12). */
import { afterEach, describe, expect, it } from 'vitest'
import { listen, makeCertificates } from '../../../test/loopback.ts'
import { callbackOf, follow, OAuthServer } from '../../../test/oauth-server.ts'
import { nodeDrivers } from '../src/connections/node-drivers.ts'
import type { HostError } from '../src/errors.ts'
import { createServices, type HostServices } from '../src/host/create-services.ts'

const ann = { tier: 'user', userId: 'ann' } as const
let host: HostServices
afterEach(() => host.close())

function open() {
  host = createServices({
    drivers: nodeDrivers({ guard: { privateNetwork: true }, baseEnv: { PATH: '/usr/bin:/bin' } }),
    signIn: { redirectUrl: 'http://127.0.0.1:9/api/oauth/callback' },
  })
  return host
}

async function look(record: object): Promise<HostError> {
  const { stored } = await open().toolkits.register({ name: 'kit', ...record }, ann)
  return host.catalog.introspect(stored, 'ann').then(
    () => Promise.reject(new Error('It did not fail.')),
    (error) => error,
  )
}

it('names the target of a redirect that is refused, without its query', async () => {
  await using elsewhere = await listen((_, response) => void response.writeHead(200).end())
  const target = `http://127.0.0.1:${elsewhere.port}/v2/mcp`
  await using server = await listen(
    (_, response) => void response.writeHead(307, { location: `${target}?token=hidden-in-the-query` }).end(),
  )
  const error = await look({ url: `http://127.0.0.1:${server.port}/mcp` })
  expect(error.message).toContain(`another origin, \`${target}\``)
  expect(error.action).toBe(`Set the server's URL to \`${target}\`, if that is the one you mean.`)
  expect(error.line).not.toContain('hidden-in-the-query')
})

it('names NODE_EXTRA_CA_CERTS for a certificate of an unknown issuer', async () => {
  await using server = await listen((_, response) => void response.writeHead(200).end(), makeCertificates([]))
  const error = await look({ url: `https://127.0.0.1:${server.port}/mcp` })
  expect(error.code).toBe('server-unreachable')
  expect(error.message).toContain('self-signed or of an unknown issuer')
  expect(error.action).toContain('NODE_EXTRA_CA_CERTS')
})

describe('a wrong issuer', () => {
  it('of the metadata is named beside the expected one', async () => {
    await using oauth = await started({ issuer: 'http://127.0.0.1:1/other' })
    const { stored } = await open().toolkits.register({ name: 'kit', url: oauth.url }, ann)
    const error = await host.signIns.start('ann', stored.toolkit.id).catch((thrown) => thrown)
    expect(error.message).toContain('`http://127.0.0.1:1/other`')
    expect(error.message).toContain(oauth.base)
    expect(error.action).toMatch(/set `issuer` to .* signing in again does not help/)
  })

  it('of the answer is named beside the expected one', async () => {
    await using oauth = await started({ iss: 'http://127.0.0.1:1/evil' })
    await open().toolkits.register({ name: 'kit', url: oauth.url }, ann)
    const { url } = await host.signIns.start('ann', 'kit')
    const error = await host.signIns.finish(callbackOf(await follow(url))).catch((thrown) => thrown)
    expect(error.message).toContain('`http://127.0.0.1:1/evil`')
    expect(error.message).toContain(oauth.base)
    expect(error.action).not.toMatch(/start the sign-in again/i)
  })
})

async function started(rules: Parameters<typeof OAuthServer.start>[0]) {
  const oauth = await OAuthServer.start(rules)
  return { url: oauth.url, base: oauth.base, [Symbol.asyncDispose]: () => oauth.close() }
}

it('begins the reason of a crash with the error of its stack trace', async () => {
  const program =
    'function deep(i) { if (i === 0) throw new TypeError("the key of the server is missing"); deep(i - 1) }'
  const error = await look({
    command: process.execPath,
    args: ['-e', `Error.stackTraceLimit = 60; ${program}; deep(50)`],
  })
  expect(error.message).toMatch(/It said: TypeError: the key of the server is missing/)
})
