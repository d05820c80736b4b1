/**
 * What a scenario of our own has: the HTTP API of a real server, real MCP servers over real transports, and what those were
 * sent. Each scenario has a toolkit of its own; all that it opened ends with it.
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { follow, type OAuthRules, OAuthServer } from '../../../../../test/oauth-server.ts'
import { copyPrepared } from '../../../../../test/prepare-pglite.ts'
import {
  type Fault,
  type HttpScenario,
  type Kind,
  type RpcMessage,
  startScenarioHttp,
} from '../../../../../test/scenario-http.ts'
import type { ScenarioState } from '../../../../../test/scenario-server.ts'
import { readConfig } from '../../../src/config.ts'
import { createLog } from '../../../src/ops/log.ts'
import { type RunningServer, startServer } from '../../../src/serve.ts'
import { type EventLog, readEvents } from './read-events.ts'

export type Scenario = (world: ScenarioContext) => Promise<void>
/** By what it shows. */
export type Scenarios = Readonly<Record<string, Scenario>>

/** The shapes of many routes, looked at by the assertions. */
export type Body = ReturnType<typeof JSON.parse>
export interface Answer {
  status: number
  headers: Headers
  body: Body
}

export interface Api extends RunningServer {
  folder: string
}

const STDIO_SERVER = fileURLToPath(new URL('../../../../../test/scenario-stdio.ts', import.meta.url))
const WAIT_MS = 8000

export async function startApi(): Promise<Api> {
  const folder = await mkdtemp(join(tmpdir(), 'loadout-scenarios-'))
  await copyPrepared(join(folder, 'data'))
  const config = readConfig({
    PORT: '0',
    LOADOUT_DATA_DIR: join(folder, 'data'),
    LOADOUT_MODE: 'local',
    PATH: '/usr/bin:/bin',
  })
  const { url, close } = await startServer(config, { log: createLog('silent') })
  const rules = [{ pattern: '*', decision: 'allow' }]
  const headers = { 'content-type': 'application/json' }
  const set = await fetch(`${url}/api/policy`, { method: 'PUT', headers, body: JSON.stringify({ rules }) })
  if (!set.ok) throw new Error(`The policy could not be set: ${await set.text()}`)
  return {
    url,
    folder,
    close: async () => {
      await close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export interface CallHow {
  signal?: AbortSignal
  wait?: boolean
}

type More = Record<string, unknown>

export class ScenarioContext {
  readonly id = `s-${crypto.randomUUID().slice(0, 8)}`
  /** What the API said of the toolkit when it was added. */
  view: Body
  readonly #api: Api
  readonly #endings: Array<() => Promise<unknown> | unknown> = []

  constructor(api: Api) {
    this.#api = api
  }

  async ask(route: `${string} ${string}`, body?: unknown, signal?: AbortSignal): Promise<Answer> {
    const [method = 'GET', path = ''] = route.split(' ')
    const json = { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    const response = await fetch(`${this.#api.url}/api${path}`, {
      method,
      ...(body === undefined ? {} : json),
      ...(signal ? { signal } : {}),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) }
  }

  async add(record: More): Promise<Body> {
    const { body } = await this.ask('POST /mcp', { id: this.id, name: this.id, ...record })
    this.#endings.push(() => this.ask(`DELETE /mcp/${this.id}`))
    this.view = body
    return body
  }

  /** A server over HTTP, added as the toolkit of this scenario. */
  async http(
    kind: Kind,
    options: { fault?: Fault; pages?: ScenarioState['pages']; record?: More } = {},
  ): Promise<HttpScenario> {
    const server = await startScenarioHttp(kind, options)
    await this.add({ url: server.url, ...options.record })
    this.#endings.push(() => server.close())
    return server
  }

  /** The same over stdio. */
  async stdio(
    era: 'legacy' | 'modern',
    options: { pages?: ScenarioState['pages']; record?: More } = {},
  ): Promise<StdioScenario> {
    const log = join(this.#api.folder, `${this.id}.log`)
    writeFileSync(log, '')
    const args = [STDIO_SERVER, era, log, ...(options.pages ? [JSON.stringify(options.pages)] : [])]
    await this.add({ command: process.execPath, args, ...options.record })
    const lines = () =>
      readFileSync(log, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    const messages = (): RpcMessage[] => lines().flatMap(({ message }) => message ?? [])
    return {
      notes: () => lines().flatMap(({ note }) => note ?? []),
      of: (method) => messages().filter((message) => message.method === method),
      messages,
    }
  }

  async oauth(rules: Partial<OAuthRules> = {}): Promise<OAuthServer> {
    const server = await OAuthServer.start(rules)
    await this.add({ url: server.url })
    this.#endings.push(() => server.close())
    return server
  }

  /** What a person does with a link: opens it, signs in, and comes back. */
  async signIn(link: string, login = 'ann'): Promise<void> {
    const { pathname, search } = await follow(link, login)
    const page = await fetch(`${this.#api.url}${pathname}${search}`)
    if (!page.ok) throw new Error(`The sign-in did not work: ${await page.text()}`)
  }

  call(tool: string, args: object = {}, { signal, wait = true }: CallHow = {}): Promise<Answer> {
    return this.ask(`POST /tools/${this.id}/${tool}/call`, { arguments: args, wait }, signal)
  }

  /** A call whose progress is followed. */
  follow(tool: string, args: object = {}): EventLog {
    const events = readEvents(`${this.#api.url}/api/tools/${this.id}/${tool}/call`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ arguments: args }),
    })
    this.#endings.push(() => events.stop())
    return events
  }

  /** What the API tells live, from now on. */
  async events(): Promise<EventLog> {
    const events = readEvents(`${this.#api.url}/api/events`)
    this.#endings.push(() => events.stop())
    await this.until(() => events.names().includes('ready'))
    return events
  }

  /** The call's outcome, however long it goes on behind. */
  async outcome(callId: string): Promise<Answer> {
    return this.until(async () => {
      const answer = await this.ask(`GET /calls/${callId}`)
      return answer.status === 202 ? undefined : answer
    })
  }

  async until<T>(look: () => T | undefined | false | Promise<T | undefined | false>): Promise<T> {
    const deadline = AbortSignal.timeout(WAIT_MS)
    for (;;) {
      const found = await look()
      if (found !== undefined && found !== false) return found
      if (deadline.aborted) throw new Error(`It did not happen within ${WAIT_MS} ms: ${look}`)
      await pause(20)
    }
  }

  async end(): Promise<void> {
    for (const ending of this.#endings.splice(0)) await ending()
  }
}

export interface StdioScenario {
  notes(): string[]
  of(method: string): RpcMessage[]
  messages(): RpcMessage[]
}

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
