/** A look ahead at what a call alone brings: models, programs that were never saved, and the limits of a thread. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { nodeAgent } from '../../src/agents/node-agent.ts'
import { quickjs } from '../../src/code-mode/quickjs.ts'
import { HostError } from '../../src/errors.ts'
import { createServices, type HostServices } from '../../src/host/create-services.ts'
import { rule } from '../../src/policy/rules.ts'

let host: HostServices
let calls: number
beforeEach(async () => {
  calls = 0
  const models = {
    open: async (_: string, name?: string) => {
      throw new HostError('model-unavailable', { detail: `No key for ${name}.`, action: 'Save one.' })
    },
  }
  host = createServices({
    policy: [rule('*', 'allow')],
    executor: quickjs({ spares: 0 }),
    agent: nodeAgent({ models }),
  })
  await host.ready()
  const say = { name: 'say', description: 'Says.', inputSchema: { type: 'object' }, execute: () => ++calls }
  await host.toolkits.register({ id: 'kit', name: 'Kit', tools: [say] }, { tier: 'app' })
})
afterEach(() => host.close())

const say = (id: string) => ({ id, type: 'tool', ref: 'kit.say' })
const definition = (...nodes: object[]) => ({ name: 'w', nodes: [say('a'), ...nodes] })
const problemsOf = async (candidate: ReturnType<typeof definition>, threadId?: string) => {
  const { problems } = await host.workflows.check('ann', { definition: candidate }, { threadId })
  const run = await host.workflows.run('ann', { definition: candidate, threadId })
  expect(run.error?.code).toBe('preflight-failed')
  expect(calls).toBe(0)
  return problems.map(({ path, code, message, action }) => `${path} ${code}: ${message} ${action}`)
}

it('the preflight check reports an unavailable model before any call', async () => {
  const asks = { id: 'b', type: 'agent', prompt: 'Hi', model: 'anthropic:x', after: ['a'] }
  expect(await problemsOf(definition(asks))).toEqual([
    "nodes.1.model model-unavailable: Node 'b': No key for anthropic:x. Save one.",
  ])
  const nonsense = await host.workflows.validate('ann', definition({ ...asks, model: 'nonsense' }))
  expect(nonsense?.errors).toEqual([{ path: 'nodes.1.model', message: expect.stringContaining('provider:model') }])
})

it('the preflight check reports a program that cannot be parsed', async () => {
  const broken = { id: 'b', type: 'code', program: 'const const', after: ['a'] }
  expect(await problemsOf(definition(broken))).toEqual([
    expect.stringMatching(/^nodes\.1\.program invalid-input: in node 'b': /),
  ])
})

it('the preflight check reports calls beyond the limits of a thread or a run', async () => {
  const { id } = await host.threads.create('ann', { settings: { limits: { maxCallsPerHour: 1 } } })
  expect(await problemsOf(definition(say('b'), say('c')), id)).toEqual([
    expect.stringContaining('The limit of this thread of 1 calls an hour leaves 1, and it makes 3 or more.'),
  ])
  await host.app.update({ limits: { maxCallsPerRun: 2 } })
  expect(await problemsOf(definition(say('b'), say('c')))).toEqual([
    expect.stringContaining('A run may make 2 calls, and it makes 3 or more.'),
  ])
})

it('the preflight check accepts toolkits that the run brings', async () => {
  const brings = definition({ id: 'b', type: 'tool', ref: 'mine.x' })
  const which = { definition: brings }
  expect(await host.workflows.check('ann', which)).toMatchObject({ ok: false })
  const found = await host.workflows.check('ann', which, { mcpServers: { mine: { url: 'https://mine.example/mcp' } } })
  expect(found).toMatchObject({ ok: true, unseen: ['mine'] })
})
