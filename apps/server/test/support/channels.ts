/**
 * What a real server tells, by the channel it tells it on: listens to all of them from the start to the end. An answer to
 * the caller of a tool is not among them, nor are the rows that keep it; every problem document, view and other row is.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { copyPrepared } from '../../../../test/prepare-pglite.ts'
import { type Config, readConfig } from '../../src/config.ts'
import { createLog } from '../../src/ops/log.ts'
import { startServer } from '../../src/serve.ts'

export const CHANNELS = ['audit', 'logs', 'metrics', 'events', 'traces', 'errors', 'views', 'rows'] as const
export type Channel = (typeof CHANNELS)[number]

export interface Answer {
  status: number
  text: string
  body: ReturnType<typeof JSON.parse>
}
export type Ask = (route: `${string} ${string}`, body?: unknown, headers?: Record<string, string>) => Promise<Answer>

export interface Listened {
  ask: Ask
  /** Ends the server, and gives all that it told. */
  end(): Promise<Record<Channel, string>>
}

/** Collects what is posted to it: traces, and what a webhook is told. */
async function startInbox() {
  const got: string[] = []
  const http = createServer(async (request, response) => {
    got.push(`${JSON.stringify(request.headers)} ${Buffer.concat(await request.toArray())}`)
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  return { got, url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, close: () => http.close() }
}

export async function listenToServer(env: Record<string, string>, files: readonly string[]): Promise<Listened> {
  const [collector, hook] = [await startInbox(), await startInbox()]
  const dir = mkdtempSync(join(tmpdir(), 'loadout-planted-'))
  await copyPrepared(dir)
  const config: Config = {
    ...readConfig({
      PORT: '0',
      LOADOUT_DATA_DIR: dir,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      LOADOUT_WEBHOOK_URL: `${hook.url}/hook`,
      ...env,
    }),
    globalFiles: files.map((text, index) => fileOf(join(dir, `servers-${index}.json`), text)),
  }
  const texts: Record<Channel, string[]> = {
    audit: [],
    logs: [],
    metrics: [],
    events: [],
    traces: collector.got,
    errors: [],
    views: [],
    rows: [],
  }
  const log = createLog('trace', { write: (line: string) => void texts.logs.push(line) })
  const server = await startServer(config, { log })
  const stopEvents = await listenToEvents(server.url, texts.events)
  const ask = askOf(server.url, { texts, journal: join(dir, 'journal') })
  return {
    ask,
    async end() {
      // What was done last is told a moment later.
      await new Promise((resolve) => setTimeout(resolve, 300))
      for (const format of ['json', 'csv', 'jsonl'])
        texts.audit.push((await ask(`GET /api/audit?all=true&limit=1000&format=${format}`)).text)
      texts.metrics.push((await ask('GET /metrics')).text)
      await stopEvents()
      await server.close()
      texts.rows.push(...(await rowsIn(dir)))
      rmSync(dir, { recursive: true, force: true })
      texts.events.push(...hook.got)
      collector.close()
      hook.close()
      return Object.fromEntries(CHANNELS.map((name) => [name, texts[name].join('\n')])) as Record<Channel, string>
    },
  }
}

function fileOf(path: string, text: string): string {
  writeFileSync(path, text, { mode: 0o600 })
  return path
}

/** What a tool gave is for its caller, and is kept here for them. */
const RESULT_TABLES = ['calls', 'results', 'result_chunks']

/** Every table as it lies in the database, read without any of our own code. */
async function rowsIn(dir: string): Promise<string[]> {
  const database = await PGlite.create(join(dir, 'pglite'))
  const tables = await database.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'mcp'`,
  )
  const texts: string[] = []
  for (const { name } of tables.rows.filter((table) => !RESULT_TABLES.includes(table.name))) {
    const { rows } = await database.query<{ row: string }>(`select row_to_json(t)::text as row from mcp."${name}" t`)
    texts.push(...rows.map(({ row }) => `${name} ${row}`))
  }
  await database.close()
  return texts
}

/** Which routes answer with a tool's own result: those are for its caller. */
const RESULTS = /^POST \/api\/tools\/.*\/call|^GET \/api\/(calls|results|audit)\b|^GET \/metrics/

function askOf(url: string, { texts, journal }: { texts: Record<Channel, string[]>; journal: string }): Ask {
  return async (route, body, headers = {}) => {
    const [method = 'GET', path = ''] = route.split(' ')
    const json = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }
    const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' }
    const answer = await fetch(`${url}${path}`, { method, ...json, headers: { ...type, ...headers } })
    const text = await answer.text()
    const head = JSON.stringify(Object.fromEntries(answer.headers))
    if (answer.status >= 400) texts.errors.push(`${head}\n${text}`)
    else if (answer.headers.get('content-type')?.includes('event-stream')) texts.errors.push(head, failuresIn(text))
    // What waits shows an approval, not a result.
    else if (!RESULTS.test(route) || answer.status === 202) texts.views.push(`${head}\n${text}`)
    texts.audit.push(...linesOf(journal))
    const isJson = answer.headers.get('content-type')?.includes('json') && !path.includes('jsonl')
    return { status: answer.status, text, body: isJson ? JSON.parse(text) : undefined }
  }
}

const failuresIn = (stream: string) =>
  stream
    .split('\n\n')
    .filter((event) => !event.startsWith('event: result'))
    .join('\n')

/** The journal as it lies on the disk now; what reached the database is taken out of it. */
function linesOf(dir: string): string[] {
  return readdirSync(dir, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
}

async function listenToEvents(url: string, into: string[]): Promise<() => Promise<void>> {
  const stop = new AbortController()
  const { body } = await fetch(`${url}/api/events`, { signal: stop.signal })
  const reading = (async () => {
    for await (const chunk of body ?? []) into.push(Buffer.from(chunk).toString())
  })().catch(() => {})
  return async () => {
    stop.abort()
    await reading
  }
}
