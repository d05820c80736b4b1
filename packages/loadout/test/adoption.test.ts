/** Mistakes that a new user of the library makes, and the answers they get. `test/adoption.md` lists the findings. */
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { answerAnthropic, readAnthropic, toAnthropic } from '../src/ai/anthropic/anthropic.ts'
import type { CompletedCall, ModelSelection } from '../src/ai/model-call.ts'
import {
  answerOpenAI,
  answerOpenAIChat,
  readOpenAI,
  readOpenAIChat,
  toOpenAI,
  toOpenAIChat,
} from '../src/ai/openai/openai.ts'
import { createHost, defineTool, type Host, HostError, rule, type ToolkitInput } from '../src/index.ts'
import { nodeDrivers } from '../src/node.ts'

const go = defineTool({ name: 'go', execute: () => 1 })

describe('an error', () => {
  it('keeps its message in JSON, without its cause', async () => {
    await using host = createHost({ policy: [rule('*', 'deny')], toolkits: { tools: [go] } })
    const outcome = await host.user('ann').call('app.go', {})
    expect(JSON.parse(JSON.stringify(outcome))).toMatchObject({
      status: 'denied',
      error: { code: 'denied', message: expect.stringContaining('app.go'), action: expect.any(String), status: 403 },
    })
    const secret = new HostError('internal', { cause: new Error('secret detail') })
    expect(JSON.stringify(secret)).not.toContain('secret detail')
  })

  it('after close tells to create a new host, and never to try again', async () => {
    const host = createHost({ policy: [rule('*', 'allow')], toolkits: { tools: [go] } })
    const ann = host.user('ann')
    await ann.call('app.go')
    await host.close()
    const error = { message: expect.stringContaining('closed'), action: expect.stringContaining('Create a new host') }
    expect(await ann.call('app.go')).toMatchObject({ status: 'failed', error })
    await expect(ann.toolkits.list()).rejects.toMatchObject(error)
    await expect(ann.thread('t').select({ prompt: 'x' })).rejects.not.toMatchObject({
      action: expect.stringContaining('Try again'),
    })
    await host.close()
  })
})

describe('a wrong argument', () => {
  it('of toAnthropic names the searches that exist', async () => {
    await using host = createHost()
    const selection = await host.user('ann').thread('t').select({ prompt: 'x' })
    expect(() => toAnthropic(selection, { search: 'fuzzy' as never })).toThrow('The search `fuzzy` is not known.')
  })

  it('as a user id is refused where it is given', () => {
    const host = createHost()
    for (const id of ['', undefined as never])
      expect(() => host.user(id)).toThrow(expect.objectContaining({ code: 'invalid-input' }))
  })

  it('with the servers of a whole config points to the import', async () => {
    await using host = createHost()
    const config = { mcpServers: { files: { command: 'npx' } } }
    await expect(host.user('ann').toolkits.add(config as never)).rejects.toMatchObject({
      code: 'invalid-input',
      errors: [{ path: 'mcpServers', message: expect.stringContaining('import') }],
    })
  })

  it.each<[option: object, path: string]>([
    [{ storge: {} }, 'storge'],
    [{ storage: 'postgres://x' }, 'storage'],
    [{ policy: 'allow' }, 'policy'],
    [{ policy: { rule: [] } }, 'policy.rule'],
    [{ toolkits: { servers: { files: { nme: 'x' } } } }, 'toolkits.servers.files.command'],
    [{ toolkits: { servers: { files: { url: 'ftp://x' } } } }, 'toolkits.servers.files.url'],
    [{ toolkits: { servers: { files: 'npx' } } }, 'toolkits.servers.files'],
    [{ search: { vector: false } }, 'search.vector'],
    [{ audit: { jurnal: {} } }, 'audit.jurnal'],
    [{ oauth: { redirect: '' } }, 'oauth.redirect'],
    [{ telemetry: { onCal: () => {} } }, 'telemetry.onCal'],
    [{ runtime: { pool: { idle: 1 } } }, 'runtime.pool.idle'],
    [{ runtime: { config: { limits: { callMs: 'long' } } } }, 'runtime.config.limits.callMs'],
  ])('of createHost is refused with its path: %j', (option, path) => {
    expect(() => createHost(option as never)).toThrow(
      expect.objectContaining({
        code: 'config-invalid',
        errors: expect.arrayContaining([
          expect.objectContaining({ path: expect.stringMatching(new RegExp(`^${path}`)) }),
        ]),
      }),
    )
  })
})

describe('the types of a server record', () => {
  const host: Pick<Host, 'toolkits'> = { toolkits: {} as Host['toolkits'] }
  const isTyped = (_: ToolkitInput) => true

  it('take a command, a URL or tools, and refuse other fields', () => {
    expect(isTyped({ name: 'files', command: 'npx', args: ['-y', 'server'] })).toBe(true)
    expect(isTyped({ name: 'docs', url: 'https://mcp.example' })).toBe(true)
    expect(isTyped({ name: 'shop', tools: [go] })).toBe(true)
    // @ts-expect-error
    expect(isTyped({ nme: 'docs', ulr: 'https://mcp.example' })).toBe(true)
    // @ts-expect-error
    expect(isTyped({ name: 'docs', command: 'npx', url: 'https://mcp.example' })).toBe(true)
    // @ts-expect-error
    expect(isTyped({ mcpServers: { docs: { url: 'https://mcp.example' } } })).toBe(true)
  })

  it('belong to add, discover and createHost', () => {
    const never = [
      // @ts-expect-error
      () => host.toolkits.add({ nme: 'docs', ulr: 'https://mcp.example' }),
      // @ts-expect-error
      () => host.toolkits.discover({ nme: 'docs', ulr: 'https://mcp.example' }),
      // @ts-expect-error
      () => createHost({ toolkits: { servers: { docs: { ulr: 'https://mcp.example' } } } }),
    ]
    expect(never).toHaveLength(3)
  })
})

describe('a name that gives a taken id', () => {
  it('gets the next free id, and a warning names both', async () => {
    await using host = createHost()
    const { toolkits } = host.user('ann')
    expect((await toolkits.add({ name: 'Dup', tools: [go] })).warnings).toEqual([])
    const { stored, warnings } = await toolkits.add({ name: 'dup', tools: [go] })
    expect([stored.toolkit.id, warnings]).toEqual([
      'dup-2',
      ['Another toolkit has the id `dup`, so this one has the id `dup-2`.'],
    ])
    expect((await toolkits.add({ name: 'dup', tools: [go] })).warnings).toEqual([])
  })
})

describe('a server with 2,002 tools', () => {
  it('is cut to 2,000, and a selection warns of it', async () => {
    const path = fileURLToPath(new URL('fixtures/many-tools.ts', import.meta.url))
    await using host = createHost({ drivers: nodeDrivers({ stdio: 'on' }), policy: [rule('*', 'allow')] })
    const ann = host.user('ann')
    await ann.toolkits.add({ name: 'many', command: process.execPath, args: [path] })
    const selection = await ann.thread('t').select({ prompt: 'tool 7', waitMs: 60_000 })
    expect(selection.unavailable).toEqual([])
    expect(selection.warnings).toEqual([
      'Tools of `many` are missing. The server lists 2002 tools; the first 2000 are kept.',
    ])
    expect(selection.tools.filter(({ entry }) => entry.toolkit === 'many').length + selection.deferred.length).toBe(
      2000,
    )
  })
})

describe('the functions of a provider', () => {
  type To = (selection: ModelSelection, options?: never) => { tools: unknown[]; warnings: string[] }
  type Read = (selection: ModelSelection, response: never, options?: never) => { calls: unknown[] }
  type Answer = (selection: ModelSelection, completed: readonly CompletedCall[], options?: never) => object

  it('have one signature', () => {
    const selection: ModelSelection = { tools: [], deferred: [] }
    const forms: Array<[To, Read, Answer, response: unknown]> = [
      [toAnthropic, readAnthropic, answerAnthropic, []],
      [toOpenAI, readOpenAI, answerOpenAI, []],
      [toOpenAIChat, readOpenAIChat, answerOpenAIChat, { tool_calls: [] }],
    ]
    for (const [to, read, answer, response] of forms) {
      expect(to(selection)).toMatchObject({ tools: [], warnings: [] })
      expect(read(selection, response as never).calls).toEqual([])
      expect(answer(selection, [])).toBeInstanceOf(Object)
    }
  })
})
