/**
 * Source 000, "UI → Execution": what a user configures by the API reaches a run of a workflow. Its acceptance, its test plan
 * and its QA scenarios, each under the name that it has there, over real servers; its pitfalls are in a file of their own.
 */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HostEvent } from '@loadout/core'
import { localFiles, nodeDrivers } from '@loadout/core/node'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { EVERYTHING, FILESYSTEM } from '../../../../test/real-servers.ts'
import { setTraps } from '../../../../test/traps.ts'
import { type ApiKeyApp, apiKeyApp } from '../support/api-key-app.ts'
import type { Ask } from '../support/multi-user-app.ts'

const node = process.execPath
const PLACEHOLDER = 'anythingrandomthiswillbeignoredanyways'
const everything = { command: node, args: [EVERYTHING], env: { GOOGLE_KEY: PLACEHOLDER } }
const broken = { command: '/nowhere/to/be/found', args: [] as string[] }
const files = () => ({ command: node, args: [FILESYSTEM, folder] })

let folder: string
let app: ApiKeyApp
const resolutions: Array<Extract<HostEvent, { type: 'toolkits-resolved' }>> = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'loadout-000-'))
  resolutions.length = 0
  app = apiKeyApp({ drivers: nodeDrivers({ baseEnv: { PATH: '/usr/bin:/bin' } }), files: localFiles({ folder }) })
  await app.host.ready()
  app.host.events.on('toolkits-resolved', (event) => resolutions.push(event))
})
afterEach(async () => {
  await app.host.close()
  await rm(folder, { recursive: true, force: true })
})

const echo = (toolkit: string) => ({
  name: 'echo',
  nodes: [{ id: 'say', type: 'tool', ref: `${toolkit}.echo`, arguments: { message: '{{ input.word }}' } }],
})
const run = (ask: Ask, definition: object, more: object = {}) =>
  ask('POST /api/workflow/invoke', { definition, input: { word: 'hello' }, ...more })
const writeSecretFile = (mcpServers: object) =>
  writeFile(join(folder, 'mcp-secret.json'), JSON.stringify({ mcpServers }))
const pids = () => app.host.connections.status().flatMap((line) => line.diagnostics().pid ?? [])

describe('acceptance criteria', () => {
  it('UI-configured toolkits execute without any mcp-secret.json, and a user with a key touches neither process.env nor the filesystem', async () => {
    const ann = await app.withKey('ann')
    const saved = await ann('POST /api/mcp', { name: 'filesystem', ...files(), env: { GOOGLE_KEY: PLACEHOLDER } })
    expect([saved.status, saved.body.state.status]).toEqual([201, 'connected'])
    const path = join(folder, 'written.txt')
    const nodes = [
      {
        id: 'write',
        type: 'tool',
        ref: 'filesystem.write_file',
        arguments: { path, content: 'by {{ input.who }}' },
      },
    ]
    const { body: stored } = await ann('POST /api/workflows', { name: 'write', nodes })
    // What is on the line now goes, so that the run starts the server itself.
    await app.host.connections.retire(saved.body.uscoId)
    const traps = setTraps()
    const { status, body } = await ann('POST /api/workflow/invoke', {
      workflowId: stored.id,
      input: { who: 'ann' },
    }).finally(traps.lift)
    expect([status, body.status, body.failedToolkits], JSON.stringify(body)).toEqual([200, 'completed', []])
    expect(traps.touched).toEqual([])
    expect(await readFile(path, 'utf8')).toBe('by ann')
    expect(await readdir(folder)).toEqual(['written.txt'])
  })

  it('the traps of the filesystem test catch a local run', async () => {
    const traps = setTraps()
    const { body } = await run(app.local, echo('everything')).finally(traps.lift)
    expect(traps.touched).toContain('readFile')
    expect(JSON.stringify(body)).toContain('mcp-secret.json cannot be used')
  })

  it('one broken toolkit of two is reported by name and the other still works', async () => {
    const ann = await app.withKey('ann')
    await ann('POST /api/mcp', { name: 'good', ...everything })
    expect((await ann('POST /api/mcp', { name: 'bad', ...broken })).body.state.status).toBe('error')
    const { status, body } = await run(ann, echo('good'))
    expect([status, body.status, body.output]).toEqual([200, 'completed', 'Echo: hello'])
    expect(body.failedToolkits).toMatchObject([{ id: 'bad', reason: expect.stringContaining('/nowhere') }])
    // Where a node needs it, the run does not even begin.
    const refused = await run(ann, {
      name: 'both',
      nodes: [...echo('good').nodes, { ...echo('bad').nodes[0], id: 'b' }],
    })
    expect([refused.status, refused.body.code]).toEqual([422, 'preflight-failed'])
    expect(refused.body.detail).toContain("The server of 'bad' does not work")
  })

  it('local dev continues to work from mcp-secret.json when mcp.toolkits is not provided', async () => {
    await writeSecretFile({ everything })
    const { status, body } = await run(app.local, echo('everything'))
    expect([status, body.status, body.output]).toEqual([200, 'completed', 'Echo: hello'])
    expect(body.warnings.join()).toContain('comes from ./mcp-secret.json')
    expect(resolutions[0]?.resolved).toMatchObject([{ name: 'everything', from: './mcp-secret.json' }])
  })

  it('workflows referencing names resolve to tool definitions via context-carried toolkits', async () => {
    const { body } = await run(app.session('ann'), echo('mine'), { mcpServers: { mine: everything } })
    expect(body).toMatchObject({ status: 'completed', output: 'Echo: hello', usage: { calls: 1 } })
    expect((await app.session('ann')('GET /api/mcp')).body.toolkits).toEqual([])
  })
})

describe('test plan', () => {
  it('Unit: tools/setup prefers opts.toolkits over file/env; falls back correctly', async () => {
    await writeSecretFile({ everything: broken, other: everything })
    const preferred = await run(app.local, echo('everything'), { mcpServers: { everything } })
    expect(preferred.body).toMatchObject({ status: 'completed', output: 'Echo: hello' })
    const fallen = await run(app.local, echo('other'), { mcpServers: { everything } })
    expect(fallen.body).toMatchObject({ status: 'completed', output: 'Echo: hello' })
    expect(resolutions.map(({ resolved }) => resolved.map(({ name, from }) => `${name} ${from}`))).toEqual([
      ['everything context'],
      ['other ./mcp-secret.json', 'everything context'],
    ])
  })

  it('Integration: API invoke → withExecutionContext({ mcp.toolkits }) → ToolManager → setupMCPForNode → client.tools() returns expected tools', async () => {
    const spelled = { transport: { kind: 'stdio', spec: everything } }
    const { body } = await run(app.session('ann'), echo('everything'), { mcpServers: { everything: spelled } })
    expect(body.status).toBe('completed')
    expect(resolutions).toMatchObject([
      {
        userId: 'ann',
        runId: body.runId,
        resolved: [
          { name: 'everything', from: 'context', tools: expect.arrayContaining(['echo', 'get-sum', 'get-env']) },
        ],
      },
    ])
  })

  it('Regression: local dev with only mcp-secret.json still initializes MCP tools', async () => {
    await writeSecretFile({ 'my-files': files() })
    const nodes = [{ id: 'look', type: 'tool', ref: 'my-files.list_directory', arguments: { path: folder } }]
    const { body } = await run(app.local, { name: 'list', nodes })
    expect([body.status, JSON.stringify(body.output)]).toEqual([
      'completed',
      expect.stringContaining('mcp-secret.json'),
    ])
  })
})

describe('developer quick QA scenarios', () => {
  it('No UI config stored → File/env fallback initializes tools.', async () => {
    await app.host.close()
    app = apiKeyApp({ drivers: nodeDrivers(), files: localFiles({ folder, secretPath: 'by-setting.json' }) })
    await writeFile(join(folder, 'by-setting.json'), JSON.stringify({ mcpServers: { everything } }))
    const { body } = await run(app.local, echo('everything'))
    expect([body.output, body.warnings.join()]).toEqual(['Echo: hello', expect.stringContaining('MCP_SECRET_PATH')])
  })

  it('UI config present, session-auth → Tools start from context (no file/env access).', async () => {
    await writeSecretFile({ everything: broken, elsewhere: everything })
    const ann = app.session('ann')
    const traps = setTraps()
    const [own, foreign] = await Promise.all([
      run(ann, echo('everything'), { mcpServers: { everything } }),
      run(ann, echo('elsewhere')),
    ]).finally(traps.lift)
    expect([own.body.output, traps.touched]).toEqual(['Echo: hello', []])
    expect(foreign.body.detail).toBe("Requested 'elsewhere', and there is no such toolkit. Available: nothing.")
  })

  it('Mixed success: one toolkit fails to spawn → Remaining toolkits still provide tools; warning printed.', async () => {
    const { body } = await run(app.session('ann'), echo('good'), { mcpServers: { bad: broken, good: everything } })
    expect([body.status, body.output]).toEqual(['completed', 'Echo: hello'])
    expect(body.failedToolkits).toMatchObject([{ id: 'bad', code: 'spawn-failed', action: expect.any(String) }])
    expect(resolutions[0]).toMatchObject({ failed: [{ id: 'bad' }], resolved: [{ name: 'good' }] })
  })

  it('Repeated invocations with same workflowVersionId → Clients are reused; optional cleanup clears them.', async () => {
    const ann = app.session('ann')
    await ann('POST /api/mcp', { name: 'everything', ...everything })
    const { body: stored } = await ann('POST /api/workflows', echo('everything'))
    const before = pids()
    expect(before).toHaveLength(1)
    for (let times = 0; times < 3; times++) {
      const { workflowVersionId } = stored
      const { body } = await ann('POST /api/workflow/invoke', { workflowVersionId, input: { word: `${times}` } })
      expect(body.output).toBe(`Echo: ${times}`)
      expect(pids()).toEqual(before)
    }
    // What an invocation brought itself is cleared with it.
    await run(ann, echo('brought'), { mcpServers: { brought: everything } })
    expect(pids()).toEqual(before)
  })
})
