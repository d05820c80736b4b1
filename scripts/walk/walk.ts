/**
 * `npm run walk`: prints the files of ours that one tool call and one prompt pass, from a real trace. A call goes through the HTTP
 * API to a server over HTTP and back; the connection is warm and no approval is needed.
 *
 * The path of a call has the files with a function that waits for the server: those on V8's stack, across awaits, when the request
 * leaves and when the answer arrives. The path of a prompt leads to the ranking. Helpers return before that: the second list has
 * every file with a function that ran between request and answer.
 */
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import { fileJournal, nodeDrivers } from '@loadout/core/node'
import { createServices, rule } from '@loadout/core/services'
import { createApp } from '@loadout/server'
import { startCountingServer } from '../../test/counting-server.ts'
import { startCoverage } from '../../test/prove/coverage.ts'
import type { Breakpoint, Frames, Report } from './stack-worker.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const OURS = /^(packages\/loadout\/src|apps\/server\/src)\//

/** The innermost points of each path, by the code of their line. */
const CALL_POINTS = [
  { path: 'packages/loadout/src/connections/http/client/request.ts', code: '    write(request, payload?.data)' },
  {
    path: 'packages/loadout/src/connections/http/streamable-transport.ts',
    code: '    deliver: (message) => this.onmessage?.(message),',
  },
]
const PROMPT_POINTS = [
  { path: 'packages/loadout/src/search/rank/rank.ts', code: '  const scores = noScores(segments)' },
]

/** Files with the functions of them that ran or waited. */
export type Walk = Array<{ path: string; functions: string[] }>
interface Walked {
  /** Files with a function that waits for the innermost point. */
  path: Walk
  /** Files with a function that ran. */
  ran: Walk
}

const ours = (files: Walk): Walk => files.filter(({ path, functions }) => OURS.test(path) && functions.length > 0)
const pathOf = (url: string): string => (url.startsWith('file:') ? relative(ROOT, fileURLToPath(url)) : url)

/** Starts counting; the returned function reports the functions that ran since its last call. */
function traceFunctions(): () => Walk {
  const read = startCoverage(false)
  return () => {
    return ours(
      read().map(({ url, functions }) => ({
        path: pathOf(url),
        functions: functions
          .filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0)
          .map(({ functionName }) => functionName),
      })),
    )
  }
}

function breakpointAt({ path, code }: { path: string; code: string }): Breakpoint {
  const line = readFileSync(join(ROOT, path), 'utf8').split('\n').indexOf(code)
  if (line < 0) throw new Error(`No line of ${path} is \`${code.trim()}\`. Update the points of scripts/walk/walk.ts.`)
  return { url: pathToFileURL(join(ROOT, path)).href, line }
}

/** Runs `work` and returns the functions on the stack at each point. */
async function traceStacks(points: typeof CALL_POINTS, work: () => Promise<unknown>): Promise<Walk> {
  const worker = new Worker(new URL('stack-worker.ts', import.meta.url))
  const stacks: Frames[] = []
  try {
    await new Promise<void>((resolve, reject) => {
      worker.on('error', reject)
      worker.on('message', (report: Report) => {
        if ('isReady' in report) resolve()
        else stacks.push(report.frames)
      })
      worker.postMessage(points.map(breakpointAt))
    })
    await work()
    // Reports arrive as messages, after the work that they are about.
    await new Promise((resolve) => setTimeout(resolve, 100))
  } finally {
    await worker.terminate()
  }
  if (stacks.length < points.length) throw new Error(`${stacks.length} of ${points.length} points were reached.`)
  const files = new Map<string, string[]>()
  for (const { url, name } of stacks.flat().reverse()) files.set(pathOf(url), [...(files.get(pathOf(url)) ?? []), name])
  return ours([...files].map(([path, functions]) => ({ path, functions })))
}

export async function walk(): Promise<{ call: Walked; prompt: Walked }> {
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
    const callPath = await traceStacks(CALL_POINTS, callTool)
    const promptPath = await traceStacks(PROMPT_POINTS, select)
    const take = traceFunctions()
    take()
    await callTool()
    const callRan = take()
    await select()
    return { call: { path: callPath, ran: callRan }, prompt: { path: promptPath, ran: take() } }
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
  print('Path of one call', call.path)
  print('Path of one prompt', prompt.path)
  print('All that runs in one call', call.ran)
  print('All that runs in one prompt', prompt.ran)
}
