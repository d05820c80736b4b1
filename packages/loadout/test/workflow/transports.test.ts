/** What a run brings along in process: transports that the app built, and what is decided ahead of toolkits that are not stored. */
import { InMemoryTransport, McpServer } from '@modelcontextprotocol/server'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createServices, type HostServices } from '../../src/host/create-services.ts'
import { rule } from '../../src/policy/rules.ts'
import { memory } from '../../src/storage/memory.ts'

let host: HostServices
const made: string[] = []
const hosts: HostServices[] = []
afterEach(async () => {
  made.length = 0
  for (const one of hosts.splice(0)) await one.close()
})

function open(options: Parameters<typeof createServices>[0] = {}): HostServices {
  const opened = createServices({
    policy: [rule('*.wipe', 'deny'), rule('*.ask', 'ask'), rule('*', 'allow')],
    ...options,
  })
  hosts.push(opened)
  return opened
}

const transport = (word: string) => () => {
  const server = new McpServer({ name: word, version: '1.0.0' })
  for (const name of ['say', 'ask', 'wipe'])
    server.registerTool(name, { inputSchema: z.object({ to: z.string() }) }, async ({ to }) => {
      made.push(`${word}.${name} ${to}`)
      return { content: [{ type: 'text', text: `${word} to ${to}` }] }
    })
  const [mine, theirs] = InMemoryTransport.createLinkedPair()
  void server.connect(theirs)
  return mine
}

const node = (id: string, tool: string, to: unknown = 'Ann') => ({
  id,
  type: 'tool',
  ref: `line.${tool}`,
  arguments: { to },
})
const workflow = (...nodes: object[]) => ({ definition: { name: 'w', brings: ['line'], nodes } })

describe('a transport built by the app', () => {
  it('serves only the run that it was given to and is not stored', async () => {
    host = open()
    const run = (word: string) =>
      host.workflows.run('ann', { ...workflow(node('a', 'say')), transports: { line: transport(word) } })
    const [first, second] = await Promise.all([run('first'), run('second')])
    expect([first.output, second.output]).toEqual(['first to Ann', 'second to Ann'])
    const rows = await host.storage.transaction({ userId: 'ann' }, (tx) =>
      tx.list('runs', { where: { userId: 'ann' } }),
    )
    expect(rows.map(({ inputJson }) => inputJson.transports)).toEqual([['line'], ['line']])
    expect(host.connections.status()).toEqual([])
    expect(await host.toolkits.list('ann')).toEqual([])
  })

  it('is available when a run resumes after an approval', async () => {
    host = open()
    await host.ready()
    const started = workflow(node('a', 'ask'), { ...node('b', 'say'), after: ['a'] })
    const paused = await host.workflows.run('ann', { ...started, transports: { line: transport('x') } })
    expect(paused.status).toBe('paused')
    await host.approvals.answer('ann', paused.steps[0]?.approvalId ?? '', { decision: 'allow' })
    expect((await host.runs.settled('ann', paused.id)).status).toBe('completed')
    expect(made).toEqual(['x.ask Ann', 'x.say Ann'])
  })

  it('serves every run that names it in any process when it is given to the host', async () => {
    const storage = memory()
    const transports = { line: transport('app') }
    host = open({ storage, transports })
    await host.ready()
    const paused = await host.workflows.run('ann', workflow(node('a', 'ask')))
    expect(paused.status).toBe('paused')
    const other = open({ storage, transports })
    await other.ready()
    await other.approvals.answer('ann', paused.steps[0]?.approvalId ?? '', { decision: 'allow' })
    expect((await other.runs.settled('ann', paused.id)).output).toBe('app to Ann')
  })

  it('is reported as failed when a run resumes without it', async () => {
    const storage = memory()
    host = open({ storage: { ...storage, close: async () => {} } })
    await host.ready()
    const paused = await host.workflows.run('ann', {
      ...workflow(node('a', 'ask')),
      transports: { line: transport('x') },
    })
    const { approvalId = '' } = paused.steps[0] ?? {}
    await host.close()
    const other = open({ storage })
    await other.ready()
    await other.approvals.answer('ann', approvalId, { decision: 'allow' })
    const { status, failedToolkits } = await other.runs.settled('ann', paused.id)
    expect([status, made]).toEqual(['failed', []])
    expect(failedToolkits).toMatchObject([{ id: 'line', reason: expect.stringContaining('not this one') }])
  })
})

describe('toolkits that a run brings', () => {
  it('are deleted with the run, also when it is cancelled', async () => {
    host = open()
    await host.ready()
    const mcpServers = { far: { url: 'https://far.example.com/mcp', headers: { authorization: 'Bearer abc' } } }
    const rows = () =>
      host.storage.transaction({ userId: 'ann' }, (tx) => tx.list('runs', { where: { userId: 'ann' } }))
    const stopped = new AbortController()
    let asked = 0
    const { id } = await host.workflows.start('ann', {
      ...workflow(node('a', 'ask')),
      mcpServers,
      signal: stopped.signal,
      transports: {
        line: () => {
          asked++
          stopped.abort()
          return transport('x')()
        },
      },
    })
    expect((await host.runs.settled('ann', id)).status).toBe('cancelled')
    expect((await rows()).map(({ inputJson }) => inputJson.toolkits)).toEqual([undefined])
    expect(asked).toBeGreaterThan(0)
  })
})

describe('the preflight check of a run that brings toolkits', () => {
  it('reports denied, invalid and unknown calls before any tool is called', async () => {
    host = open()
    const nodes = [node('a', 'wipe'), node('b', 'say', 5), node('c', 'gone')]
    const { status, error } = await host.workflows.run('ann', {
      ...workflow(...nodes),
      transports: { line: transport('x') },
    })
    expect([status, made]).toEqual(['failed', []])
    const problems = error?.problems as Array<{ code: string; ref: string; message: string }>
    expect(problems.map(({ code, ref }) => [code, ref])).toEqual([
      ['denied', 'line.wipe'],
      ['invalid-input', 'line.say'],
      ['tool-not-found', 'line.gone'],
    ])
    expect(problems[0]?.message).toContain("The call of 'line.wipe' is denied.")
  })

  it('applies the rules of the run', async () => {
    host = open()
    const { error } = await host.workflows.run('ann', {
      ...workflow(node('a', 'say')),
      transports: { line: transport('x') },
      rules: [{ pattern: 'line.*', decision: 'deny' }],
    })
    expect(error?.problems).toMatchObject([{ code: 'denied', ref: 'line.say' }])
  })
})
