/**
 * `npm run walk`: prints the files of ours that one tool call and one prompt pass, from a real trace. A call goes through the HTTP
 * API to a server over HTTP and back; the connection is warm and no approval is needed. V8 reports which functions ran.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { Session } from 'node:inspector'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fileJournal, nodeDrivers } from '@loadout/core/node'
import { createServices, rule } from '@loadout/core/services'
import { createApp } from '@loadout/server'
import { startCountingServer } from '../test/counting-server.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const OURS = /^(packages\/loadout\/src|apps\/server\/src)\//

interface Coverage {
  result: Array<{ url: string; functions: Array<{ functionName: string; ranges: Array<{ count: number }> }> }>
}

function trace() {
  const session = new Session()
  session.connect()
  const post = (method: string, params?: object): unknown => {
    let answer: unknown
    session.post(method, params, (error, result) => {
      if (error) throw error
      answer = result
    })
    return answer
  }
  post('Profiler.enable')
  post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  return () => {
    const { result } = post('Profiler.takePreciseCoverage') as Coverage
    return result
      .filter(({ url }) => url.startsWith('file:'))
      .map(({ url, functions }) => ({
        path: relative(ROOT, fileURLToPath(url)),
        functions: functions
          .filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0)
          .map(({ functionName }) => functionName),
      }))
      .filter(({ path, functions }) => OURS.test(path) && functions.length > 0)
  }
}

/** The files that ran, with their functions. */
export type Walk = Array<{ path: string; functions: string[] }>

export async function walk(): Promise<{ call: Walk; prompt: Walk }> {
  const server = await startCountingServer('files', [{ name: 'read', annotations: { readOnlyHint: true } }])
  const dir = await mkdtemp(join(tmpdir(), 'loadout-walk-'))
  const host = createServices({
    drivers: nodeDrivers({ guard: { privateNetwork: true } }),
    policy: [rule('*', 'allow')],
    search: { vectors: false },
    // As the server runs: an entry is safe in a file before the server sees the call, and the database is off the path.
    audit: { journal: fileJournal({ dir }) },
  })
  const authenticate = async () => ({ kind: 'session' as const, userId: 'ann' })
  const app = createApp({ host, authenticate })
  const post = async (path: string, body: object) => {
    const response = await app.request(`http://localhost${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', host: 'localhost' },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`)
    return response.json()
  }
  try {
    await host.toolkits.register({ name: 'files', url: server.url }, { tier: 'user', userId: 'ann' })
    await post('/api/threads', { id: 'walk' })
    const callTool = () => post('/api/tools/files/read/call', { arguments: {} })
    const select = () => post('/api/threads/walk/resolve', { prompt: 'read a file' })
    // Caches fill and connections open first: the walk is that of every later call.
    for (let round = 0; round < 3; round++) {
      await callTool()
      await select()
    }
    const take = trace()
    take()
    await callTool()
    const call = take()
    await select()
    return { call, prompt: take() }
  } finally {
    await host.close()
    await server.close()
    await rm(dir, { recursive: true, force: true })
  }
}

function print(title: string, files: Walk) {
  console.log(`\n${title}: ${files.length} files`)
  for (const { path, functions } of files)
    console.log(`  ${path}  ${[...new Set(functions)].filter(Boolean).join(', ')}`)
}

if (import.meta.main) {
  const { call, prompt } = await walk()
  print('One call', call)
  print('One prompt', prompt)
}
