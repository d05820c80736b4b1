/** The look ahead over the API: a workflow that was well when it was saved, and ten things that went wrong since. */
import { rule } from '@loadout/core'
import { nodeDrivers } from '@loadout/core/node'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type CountingServer, startCountingServer } from '../../../../test/counting-server.ts'
import { type Body, type MultiUserApp, multiUserApp } from '../support/multi-user-app.ts'

const path = { type: 'object' as const, properties: { path: { type: 'string' } }, required: ['path'] }
const listed = (name: string) => ({ name, inputSchema: path, annotations: { readOnlyHint: true } })

let app: MultiUserApp
let servers: Record<string, CountingServer>
const ann = () => app.as('ann')
const server = (name: string) => servers[name] as CountingServer
const calls = () => Object.values(servers).flatMap((one) => one.calls)
const lookAgain = (id: string) => ann()(`POST /api/mcp/${id}/introspect`, {})

beforeEach(async () => {
  servers = {}
  app = multiUserApp({ drivers: nodeDrivers({ guard: { privateNetwork: true } }) })
  await app.host.ready()
  for (const name of ['filesystem', 'removed', 'off', 'down', 'locked']) {
    servers[name] = await startCountingServer(
      name,
      ['read_file', 'changed', 'other', 'denied', 'quiet'].map((tool) => listed(tool)),
    )
    expect((await ann()('POST /api/mcp', { name, url: server(name).url })).body.state.status).toBe('connected')
  }
})
afterEach(async () => {
  await app.host.close()
  await Promise.all(Object.values(servers).map((one) => one.close()))
})

const node = (id: string, ref: string) => ({ id, type: 'tool', ref, arguments: { path: 'x' } })
const NODES = [
  node('missing', 'filesystem.read_file'),
  node('unknown', 'removed.read_file'),
  node('off', 'off.read_file'),
  node('down', 'down.read_file'),
  node('locked', 'locked.read_file'),
  node('changed', 'filesystem.changed'),
  node('other', 'filesystem.other'),
  node('denied', 'filesystem.denied'),
  node('quiet', 'filesystem.quiet'),
]
const AVAILABLE = 'filesystem, off, down, locked'
const PROBLEMS = [
  "missing tool-not-found: Tool 'filesystem.read_file' not found in server 'filesystem'. Re-introspect server or remove tool.",
  `unknown not-found: Requested 'removed', and there is no such toolkit. Available: ${AVAILABLE}.`,
  "off not-carried: The toolkit 'off' is switched off.",
  expect.stringMatching(/^down server-unreachable: The server of 'down' does not work: .*refused/),
  "locked sign-in-needed: You are not signed in to the server of 'locked'.",
  "changed tool-changed: The tool 'filesystem.changed' is not what was accepted: its server changed it.",
  "other invalid-input: The arguments of 'filesystem.other' do not fit: path must be an integer, not a string",
  expect.stringMatching(/^denied denied: The call of 'filesystem.denied' is denied\. The rule "filesystem.denied"/),
  expect.stringMatching(/^quiet not-carried: The tool 'filesystem.quiet' is not carried\. Switched off/),
  'undefined limit-reached: The limit of 3 calls an hour leaves 3, and it makes 9 or more.',
]

/** Each by the API, or by what the server itself does. */
async function goWrong(): Promise<void> {
  server('filesystem').tools = [
    { ...listed('changed'), description: 'Other words than those that were accepted.' },
    { ...listed('other'), inputSchema: { ...path, properties: { path: { type: 'integer' } } } },
    ...['denied', 'quiet'].map(listed),
  ]
  await lookAgain('filesystem')
  await ann()('POST /api/mcp/filesystem/accept', { tool: 'other' })
  await ann()('DELETE /api/mcp/removed')
  await ann()('PATCH /api/mcp/off', { enabled: false })
  await server('down').close()
  await lookAgain('down')
  server('locked').refuses = 401
  await lookAgain('locked')
  await ann()('PUT /api/policy/own', { rules: [rule('filesystem.denied', 'deny')] })
  await app.host.activations.set({ userId: 'ann' }, [{ ref: 'filesystem.quiet', on: false }])
  await ann()('PATCH /api/preferences', { costLimits: { maxCallsPerHour: 3 } })
}

const textsOf = (problems: Body[]) => problems.map((one) => `${one.node} ${one.code}: ${one.message}`)

it('the preflight check finds ten prepared problems at once by name and calls no tool', async () => {
  const { status, body: stored } = await ann()('POST /api/workflows', { name: 'ten', nodes: NODES })
  const check = async () => (await ann()(`POST /api/workflows/${stored.id}/check`)).body
  expect([status, (await check()).problems]).toEqual([201, []])
  await goWrong()
  const before = Object.values(servers).map(({ requests }) => requests)
  const found = await check()
  expect([found.ok, textsOf(found.problems)]).toEqual([false, PROBLEMS])
  expect(found.problems.every(({ action }: Body) => action.length > 0)).toBe(true)
  // On demand nothing is even started.
  expect(Object.values(servers).map(({ requests }) => requests)).toEqual(before)

  const refused = await ann()('POST /api/workflow/invoke', { workflowId: stored.id })
  expect([refused.status, refused.body.code, refused.body.errors.length]).toEqual([422, 'preflight-failed', 10])
  expect(refused.body.errors[0]).toEqual({ path: 'nodes.0.ref', message: found.problems[0].message })
  const run = (await ann()(`GET /api/runs/${refused.body.runId}`)).body
  expect([run.status, run.steps, textsOf(run.error.problems)]).toEqual(['failed', [], PROBLEMS])
  for (const { message } of run.error.problems) expect(refused.body.detail).toContain(message)
  expect(calls()).toEqual([])
})

it('a run rediscovers a server that is back after a failure and completes', async () => {
  const port = Number(new URL(server('down').url).port)
  const workflow = { name: 'back', nodes: [node('down', 'down.read_file')] }
  const { body: stored } = await ann()('POST /api/workflows', workflow)
  const invoke = async () => (await ann()('POST /api/workflow/invoke', { workflowId: stored.id })).body
  await server('down').close()
  await lookAgain('down')
  expect((await invoke()).code).toBe('preflight-failed')
  servers.down = await startCountingServer('down', [listed('read_file')], port)
  const done = await invoke()
  expect([done.status, done.failedToolkits], JSON.stringify(done)).toEqual(['completed', []])
  expect(calls()).toEqual([{ name: 'read_file', arguments: { path: 'x' } }])
})

it('the preflight check ignores toolkits that each run supplies, and a run without them fails', async () => {
  const workflow = { name: 'brought', brings: ['mine'], nodes: [node('a', 'mine.read_file')] }
  const { body: stored } = await ann()('POST /api/workflows', workflow)
  expect((await ann()(`POST /api/workflows/${stored.id}/check`)).body).toMatchObject({ ok: true, unseen: ['mine'] })
  const invoke = async (more: object) =>
    (await ann()('POST /api/workflow/invoke', { workflowId: stored.id, ...more })).body
  expect((await invoke({})).detail).toContain("Requested 'mine', and there is no such toolkit.")
  expect((await invoke({ mcpServers: { mine: { url: server('off').url } } })).status).toBe('completed')
})

it('errors in the toolkits of a call are reported at once at the sent fields', async () => {
  const mine = { url: server('off').url }
  const definition = { name: 'brought', brings: ['mine'], nodes: [node('a', 'mine.read_file')] }
  const { body: stored } = await ann()('POST /api/workflows', definition)
  const which = { workflowId: stored.id }
  const { body: run } = await ann()('POST /api/workflow/invoke', { ...which, mcpServers: { mine } })
  expect(run.status).toBe('completed')
  const mcpServers = { a: { command: 5 }, 'b c': { command: 'x', args: [1] }, mine, d: 7 }
  const refused = await Promise.all([
    ann()(`POST /api/workflows/${stored.id}/check`, { mcpServers }),
    ann()('POST /api/workflow/invoke', { ...which, mcpServers }),
    ann()(`POST /api/runs/${run.runId}/rerun`, { from: 'a', mcpServers }),
    ann()(`POST /api/runs/${run.runId}/rerun`, { from: 'nowhere', mcpServers }),
  ])
  for (const { status, body } of refused) {
    expect([status, body.code]).toEqual([422, 'invalid-input'])
    const places: string[] = body.errors.map((one: Body) => one.path)
    const keys = places.map((place) => /^mcpServers\.([^.]+)/.exec(place)?.[1] ?? place)
    expect([...new Set(keys)].filter((key) => key !== 'from')).toEqual(['a', 'b c', 'd'])
  }
  expect(refused[3]?.body.errors[0].path).toBe('from')
})

it('the preflight check reads the toolkits of a call as a run does and contacts none of their servers', async () => {
  const nodes = [node('a', 'filesystem.read_file')]
  const { body: stored } = await ann()('POST /api/workflows', { name: 'w', nodes })
  const check = async (filesystem: object, more: object = {}) => {
    const before = Object.values(servers).map(({ requests }) => requests)
    const { body } = await ann()(`POST /api/workflows/${stored.id}/check`, { mcpServers: { filesystem, ...more } })
    expect(Object.values(servers).map(({ requests }) => requests)).toEqual(before)
    return { ...body, problems: textsOf(body.problems) }
  }
  const url = server('off').url
  // It goes before the stored one of its name, of which more is known.
  expect(await check({ url })).toMatchObject({ ok: true, unseen: ['filesystem'] })
  expect((await check({ url, enabled: false })).problems).toEqual([
    "a not-carried: The toolkit 'filesystem' does not serve: It is switched off.",
  ])
  const many = Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`kit-${index}`, { url }]))
  expect((await check({ url }, many)).warnings.join()).toContain('Left out: kit-15, kit-16.')
  // Once a run brought it, what was seen of it is known.
  server('off').tools = [{ ...listed('other'), inputSchema: { ...path, properties: { path: { type: 'integer' } } } }]
  const run = await ann()('POST /api/workflow/invoke', { workflowId: stored.id, mcpServers: { filesystem: { url } } })
  expect(run.body.code).toBe('preflight-failed')
  expect(await check({ url })).toMatchObject({ unseen: [], problems: [expect.stringContaining('a tool-not-found')] })
  await ann()(`PUT /api/workflows/${stored.id}`, { name: 'w', nodes: [node('b', 'filesystem.other')] })
  expect((await check({ url })).problems).toEqual([
    "b invalid-input: The arguments of 'filesystem.other' do not fit: path must be an integer, not a string",
  ])
  expect(calls()).toEqual([])
})
