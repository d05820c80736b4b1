import { setImmediate, setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createExecutionContext, withExecutionContext as withPassedContext } from './context.ts'
import { getExecutionContext, withExecutionContext } from './node.ts'
import { contextSecrets } from './toolkits/secrets/context-secrets.ts'

const source = (user: string) => ({
  principal: { kind: 'session' as const, userId: user },
  scope: { threadId: `thread of ${user}` },
  toolkits: { files: { command: 'npx', args: ['-y', user], env: { N: 1, B: true } } },
})

describe('the execution context', () => {
  it('is isolated between 200 concurrent invocations', async () => {
    const invoke = (user: string) =>
      withExecutionContext(source(user), async () => {
        const seen = new Set<string>()
        for (let step = 0; step < 10; step++) {
          await (step % 2 ? setImmediate() : setTimeout(Math.random() * 3))
          await Promise.all([1, 2].map(async () => seen.add(getExecutionContext()?.principal.userId ?? 'nobody')))
          const server = getExecutionContext()?.toolkits.files?.server
          seen.add(server?.type === 'stdio' ? (server.args[1] ?? '') : '')
        }
        return [...seen]
      })
    const users = Array.from({ length: 200 }, (_, i) => `user${i}`)
    expect(await Promise.all(users.map(invoke))).toEqual(users.map((user) => [user]))
    expect(getExecutionContext()).toBeUndefined()
  })

  it('is hidden by an inner context and restored after it', () => {
    withExecutionContext(source('outer'), () => {
      withExecutionContext(source('inner'), () => expect(getExecutionContext()?.principal.userId).toBe('inner'))
      expect(getExecutionContext()?.principal.userId).toBe('outer')
    })
  })

  it('is passed explicitly where no ambient context exists', () => {
    const seen = withPassedContext(source('ann'), (context) => context.principal.userId)
    expect(seen).toBe('ann')
    expect(getExecutionContext()).toBeUndefined()
  })

  it('is deeply frozen, and its signal still works', () => {
    const controller = new AbortController()
    const context = createExecutionContext({ ...source('ann'), signal: controller.signal })
    expect(() => Object.assign(context.scope, { userId: 'bob' })).toThrow(TypeError)
    expect(() => Object.assign(context.toolkits.files?.server ?? {}, { command: 'sh' })).toThrow(TypeError)
    controller.abort()
    expect(context.signal?.aborted).toBe(true)
  })

  it('accepts the source 000 shape and converts environment values to strings', () => {
    const context = createExecutionContext({
      principal: { kind: 'session', userId: 'ann' },
      mcp: {
        toolkits: {
          tavily: { transport: { kind: 'stdio', spec: { command: 'npx', args: ['-y', 'tavily-mcp'], env: { N: 1 } } } },
        },
      },
    })
    const { tavily } = context.toolkits
    expect(tavily?.server).toEqual({
      type: 'stdio',
      command: 'npx',
      args: ['-y', 'tavily-mcp'],
      env: { N: '${secret:carried.env.N}' },
    })
    expect(tavily && contextSecrets(tavily)).toEqual({ 'carried.env.N': '1' })
  })

  it('rejects invalid input by field', () => {
    for (const input of [
      undefined,
      null,
      {},
      { principal: null },
      { ...source('ann'), toolkits: { 'My Server': { nonsense: 'x' } } },
    ])
      expect(() => createExecutionContext(input as never)).toThrow(
        expect.objectContaining({ code: 'invalid-input', message: expect.stringMatching(/\w+: \w/) }),
      )
    expect(createExecutionContext({ ...source('ann'), toolkits: null as never }).toolkits).toEqual({})
  })

  it('keeps secrets and API keys as references', () => {
    const key = { toolkit: 'usco_1', field: 'env.KEY' }
    expect(createExecutionContext({ ...source('ann'), apiKeys: { openai: key } }).secrets).toEqual({ openai: key })
    expect(() => createExecutionContext({ ...source('ann'), secrets: { openai: 'sk-live' as never } })).toThrow(
      expect.objectContaining({ code: 'invalid-input' }),
    )
  })

  it('reports the path of an error', () => {
    const make = () => createExecutionContext({ ...source('ann'), toolkits: { files: { command: 'x', args: [1] } } })
    expect(make).toThrow(
      expect.objectContaining({
        code: 'invalid-input',
        errors: [expect.objectContaining({ path: 'toolkits.files.args.0' })],
      }),
    )
    const asOther = () => createExecutionContext({ ...source('ann'), scope: { userId: 'bob' } })
    expect(asOther).toThrow(
      expect.objectContaining({ errors: [{ path: 'scope.userId', message: "must be the principal's own" }] }),
    )
  })

  it('reports the errors of several toolkits at once', () => {
    const toolkits = { a: { command: 5 }, b: { url: 'https://b.example/mcp' }, c: { url: 7 } }
    const error = (() => {
      try {
        return createExecutionContext({ principal: { kind: 'session', userId: 'ann' }, toolkits })
      } catch (thrown) {
        return thrown as { errors: { path: string }[] }
      }
    })()
    const places = 'errors' in error ? error.errors.map(({ path }) => path.split('.').slice(0, 2).join('.')) : []
    expect([...new Set(places)]).toEqual(['toolkits.a', 'toolkits.c'])
  })
})
