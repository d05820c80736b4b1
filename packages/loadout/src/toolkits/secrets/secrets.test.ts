import { describe, expect, it } from 'vitest'
import { newWork } from '../../../../../test/prove/work.ts'
import { readServer } from '../../schema/read/read-toolkit.ts'
import { fillSecrets, takeSecrets } from './secrets.ts'

const work = newWork()

const SECRET = 'sk-live-4f9aB2c8D1e7F6a5'

/** Positions of secrets in a server record. */
const PLACES: Record<string, object> = {
  'an environment value': { command: 'x', env: { PLAIN: SECRET } },
  'a flag and its value': { command: 'x', args: ['--api-key', SECRET] },
  'a flag with a value': { command: 'x', args: [`--token=${SECRET}`] },
  'an assignment': { command: 'docker', args: ['run', '-e', `GITHUB_TOKEN=${SECRET}`, 'img'] },
  'a header argument': {
    command: 'npx',
    args: ['mcp-remote', 'https://a.example', '--header', `Authorization: Bearer ${SECRET}`],
  },
  'an argument by itself': {
    command: 'x',
    args: ['ghp_abcdefghijklmnopqrstuvwxyz0123456789'.replace('ghp_', `ghp_${SECRET.replaceAll('-', '')}`)],
  },
  'a url argument': { command: 'x', args: [`postgres://u:${SECRET}@db.example/x`] },
  'a header': { url: 'https://a.example', headers: { 'X-Anything': SECRET } },
  'a bearer token': { url: 'https://a.example', auth: { type: 'bearer', token: SECRET } },
  'an auth header': { url: 'https://a.example', auth: { type: 'headers', headers: { 'X-Key': SECRET } } },
  'a client secret': { url: 'https://a.example', auth: { type: 'oauth', clientId: 'c', clientSecret: SECRET } },
  'a query parameter': { url: `https://a.example/mcp?apiKey=${SECRET}&x=1` },
  'a password in a url': { url: `https://u:${SECRET}@a.example/mcp` },
  'a user name in a url': { url: 'https://ghp_liveaB2c8D1e7F6a5sk4f9@a.example/mcp'.replace('ghp_live', `${SECRET}`) },
  'an escaped query parameter': { url: `https://a.example/mcp?token=x%2f${SECRET}` },
  'a query parameter with a plus': { url: `https://a.example/mcp?token=my+${SECRET}` },
  'a password with odd characters': { url: `https://u:p^ä${SECRET}@a.example/mcp` },
  'a url after a flag': { command: 'x', args: [`--db=postgresql://u:${SECRET}@h.example/db`] },
  'a part of a path': { url: `https://a.example/s/${SECRET}0123456789abcdef/mcp` },
}

/** URLs in the one spelling that the platform gives them. */
function normal(server: object): unknown {
  return JSON.parse(JSON.stringify(server), (_, value) =>
    typeof value === 'string' && value.includes('://')
      ? value.replace(/[a-z]+:\/\/\S+/, (url) => URL.parse(url)?.href ?? url)
      : value,
  )
}

describe('takeSecrets', () => {
  for (const [name, input] of Object.entries(PLACES))
    it(name, () => {
      const server = readServer(input)
      const taken = takeSecrets(server, [])
      expect(JSON.stringify(taken.server)).not.toContain(SECRET.slice(8))
      expect(Object.values(taken.secrets).join()).toContain(SECRET.slice(8).replaceAll('-', ''))
      expect(normal(fillSecrets(taken.server, taken.secrets))).toEqual(normal(server))

      // A record with placeholders comes back: every secret is retained, and none is extracted again.
      const again = takeSecrets(readServer(taken.server), Object.keys(taken.secrets))
      expect(again.server).toEqual(taken.server)
      expect(again.secrets).toEqual({})
      expect(again.retained.sort()).toEqual(Object.keys(taken.secrets).sort())
    })

  it('keeps ordinary arguments and URLs readable', () => {
    const args = [
      '-y',
      '@modelcontextprotocol/server-filesystem',
      '/srv/data',
      '--port=8080',
      '--name',
      'my-server',
      'https://a.example/mcp?x=1',
    ]
    expect(takeSecrets(readServer({ command: 'npx', args }), [])).toMatchObject({ server: { args }, secrets: {} })
    const url = 'https://a.example/v1/mcp?team=blue'
    expect(takeSecrets(readServer({ url }), [])).toMatchObject({ server: { url }, secrets: {} })
  })

  it('keeps a stored secret when a new argument is added in front of it', () => {
    const { server, secrets } = takeSecrets(readServer({ command: 'x', args: ['--token', SECRET] }), [])
    const moved = {
      ...server,
      args: ['--verbose', '--key', 'another-secret-9Z', ...(server as { args: string[] }).args],
    }
    const again = takeSecrets(readServer(moved), Object.keys(secrets))
    expect(again.retained).toEqual(Object.keys(secrets))
    expect(Object.values(again.secrets)).toEqual(['another-secret-9Z'])
    expect(Object.keys(again.secrets)).not.toEqual(Object.keys(secrets))
  })

  it('separates two secrets in one URL and does not replace other text with a short secret', () => {
    const server = readServer({ url: 'https://example.example/mcp?token=e&key=secret&other=e' })
    const taken = takeSecrets(server, [])
    expect(taken.server).toMatchObject({
      url: 'https://example.example/mcp?token=${secret:url.0}&key=${secret:url.1}&other=e',
    })
    expect(fillSecrets(taken.server, taken.secrets)).toEqual(server)
  })

  it('takes a new secret beside a kept one', () => {
    const { server } = takeSecrets(readServer({ url: 'https://a.example/mcp?token=${secret:url.0}&api_key=SECOND' }), [
      'url.0',
    ])
    expect(server).toMatchObject({ url: 'https://a.example/mcp?token=${secret:url.0}&api_key=${secret:url.1}' })
  })

  it('needs few steps for an adversarial text', () => {
    const server = readServer({ command: 'x', args: Array(256).fill('-eyJ'.repeat(2048)) })
    // 2 million characters: the bound is a twentieth of a step per character.
    work.within({ steps: 100_000, ms: 2000 }, () => takeSecrets(server, []))
  })

  it('accepts a placeholder only at the place of its secret', () => {
    const stored = ['env.A', 'url.0']
    expect(() => takeSecrets(readServer({ command: 'x', env: { B: '${secret:env.A}' } }), stored)).toThrow(
      /names no secret/,
    )
    expect(() => takeSecrets(readServer({ url: 'https://evil.example/${secret:env.A}' }), stored)).toThrow(
      /names no secret/,
    )
    expect(() => takeSecrets(readServer({ command: 'x', env: { A: '${secret:env.A}' } }), [])).toThrow(
      /names no secret/,
    )
    expect(() => takeSecrets(readServer({ command: 'x', env: { A: 'x${secret:env.A}' } }), stored)).toThrow(
      /names no secret/,
    )
  })

  it('leaves a placeholder that fillSecrets names when its secret is missing', () => {
    const { server } = takeSecrets(readServer(PLACES['an environment value']), [])
    expect(() => fillSecrets(server, {})).toThrow(
      expect.objectContaining({ code: 'secret-missing', message: expect.stringContaining('env.PLAIN') }),
    )
  })
})

describe('secrets given beside the record', () => {
  const server = (arg: string) => readServer({ command: 'x', args: ['--db', arg] })

  it('fill the placeholders of the record, however plain their values are', () => {
    const { secrets, retained } = takeSecrets(server('--name=${secret:args.input0}'), [], { 'args.input0': 'x' })
    expect([secrets, retained]).toEqual([{ 'args.input0': 'x' }, []])
  })

  it('are the only secrets that the record can name, and stored ones are not kept', () => {
    const stored = ['args.0', 'env.A']
    for (const record of [server('${secret:args.0}'), readServer({ command: 'x', env: { A: '${secret:env.A}' } })]) {
      expect(takeSecrets(record, stored).retained).toHaveLength(1)
      expect(() => takeSecrets(record, stored, {})).toThrow('names no secret')
    }
  })
})
