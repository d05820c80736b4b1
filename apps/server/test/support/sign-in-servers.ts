/** A server with sign-in in two processes over one storage, and browsers with cookies, for tests. */
import { randomBytes } from 'node:crypto'
import { masterKeyRing, type Storage } from '@loadout/core'
import { createServices, type HostServices } from '@loadout/core/services'
import { createApiKeys } from '../../src/auth/api-keys.ts'
import { byApiKey, restrictToUser, sessionOr } from '../../src/auth/authenticate.ts'
import { createSignIn, type SignIn, type SignInOptions } from '../../src/auth/sign-in.ts'
import { createApp } from '../../src/http/app.ts'
import type { Answer } from './multi-user-app.ts'

export const BASE = 'http://localhost:4300'
export const PASSWORD = 'a good long password'
/** One for all: a database that several worlds begin from is sealed with the first's. */
const KEY = randomBytes(32).toString('base64')

export interface Process {
  host: HostServices
  signIn: SignIn
  app: ReturnType<typeof createApp>
}

export interface SignInServers {
  processes: [Process, Process]
  storage: Storage
  /** How often a password was hashed or compared. */
  counts: { hashed: number; compared: number }
  browser(address?: string): Browser
  /** The first operator, signed in. */
  operator(): Promise<Browser>
  /** Somebody who was invited and came, signed in. */
  user(email: string): Promise<{ id: string; browser: Browser }>
  close(): Promise<void>
}

export interface Sent {
  body?: unknown
  headers?: Record<string, string>
  /** Which process is asked. */
  at?: 0 | 1
}

/** Keeps cookies as a browser does, and says where its pages are from. */
export interface Browser {
  readonly cookies: Map<string, string>
  ask(route: `${string} ${string}`, sent?: Sent): Promise<Answer & { headers: Headers }>
}

export interface SignInServersOptions extends Partial<SignInOptions> {
  base?: string
  publicUrl?: string
}

/** `storages`: what each of the two has; the same where the driver is in the process. */
export async function signInServers(
  storages: [Storage, Storage],
  options: SignInServersOptions = {},
): Promise<SignInServers> {
  const { base = options.publicUrl ?? BASE, publicUrl, ...rest } = options
  const secret = randomBytes(32).toString('hex')
  const keyRing = await masterKeyRing(KEY)
  const counts = { hashed: 0, compared: 0 }
  // Quick, and counted: what scrypt does has tests of its own.
  const passwords = {
    hash: async (password: string) => {
      counts.hashed++
      return `h:${Buffer.from(password).toString('base64').split('').reverse().join('')}`
    },
    verify: async ({ hash, password }: { hash: string; password: string }) => {
      counts.compared++
      return hash === `h:${Buffer.from(password).toString('base64').split('').reverse().join('')}`
    },
  }
  const open = async (storage: Storage): Promise<Process> => {
    const host = createServices({ storage, keyRing })
    await host.ready()
    const record = host.audit.record
    const signIn = createSignIn({ storage, secret, baseUrl: () => base, passwords, record, ...rest })
    const apiKeys = createApiKeys(storage, record)
    const byKey = restrictToUser(byApiKey(apiKeys), storage)
    const authenticate = sessionOr(byKey, signIn, publicUrl)
    return { host, signIn, app: createApp({ host, apiKeys, authenticate, signIn, publicUrl }) }
  }
  const processes: [Process, Process] = [await open(storages[0]), await open(storages[1])]
  const browser = (address = '192.0.2.1') => browserOf(processes, base, address)
  let operator: Browser | undefined
  const world: SignInServers = {
    processes,
    storage: storages[0],
    counts,
    browser,
    async operator() {
      if (operator) return operator
      const made = await processes[0].signIn.setupLink()
      operator = browser()
      const body = { token: made?.token, email: 'olga@example.com', name: 'Olga', password: PASSWORD }
      await expectStatus(operator.ask('POST /api/auth/setup', { body }), 201)
      return operator
    },
    async user(email) {
      const invited = await expectStatus((await world.operator()).ask('POST /api/users', { body: { email } }), 201)
      const own = browser()
      const body = { token: tokenOf(invited.body.link.url), password: PASSWORD }
      await expectStatus(own.ask('POST /api/auth/invite', { body }), 200)
      return { id: invited.body.user.id, browser: own }
    },
    async close() {
      for (const { host, signIn } of processes) {
        await signIn.close()
        await host.close()
      }
    },
  }
  return world
}

export const tokenOf = (url: string) => new URL(url).hash.slice(1)

async function expectStatus<T extends Answer>(asked: Promise<T>, status: number): Promise<T> {
  const answer = await asked
  if (answer.status !== status) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`)
  return answer
}

function browserOf(processes: [Process, Process], base: string, address: string): Browser {
  const cookies = new Map<string, string>()
  return {
    cookies,
    async ask(route, { body, headers = {}, at = 0 } = {}) {
      const [method = 'GET', path = ''] = route.split(' ')
      const own: Record<string, string> = method === 'GET' ? {} : { origin: new URL(base).origin }
      if (cookies.size > 0) own.cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
      if (body !== undefined) own['content-type'] = 'application/json'
      const sent = Object.entries({ ...own, ...headers }).filter(([, value]) => value !== '')
      const init = {
        method,
        headers: Object.fromEntries(sent),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }
      const env = { incoming: { socket: { remoteAddress: address } } }
      const answer = await processes[at].app.request(`${base}${path}`, init, env)
      for (const cookie of answer.headers.getSetCookie()) keepCookie(cookies, cookie)
      const text = await answer.text()
      const isJson = /json/.test(answer.headers.get('content-type') ?? '')
      return { status: answer.status, headers: answer.headers, body: isJson ? JSON.parse(text) : text }
    },
  }
}

function keepCookie(cookies: Map<string, string>, cookie: string): void {
  const [pair = ''] = cookie.split(';')
  const at = pair.indexOf('=')
  if (/max-age=0/i.test(cookie)) cookies.delete(pair.slice(0, at))
  else cookies.set(pair.slice(0, at), pair.slice(at + 1))
}
