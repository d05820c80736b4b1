/**
 * Typed API client. It connects to the live server of a data folder, or opens the folder in this process behind the
 * same app.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ERRORS, type ErrorCode, HostError } from '@loadout/core'
import { folderHolder } from '@loadout/core/node'
import type { AppType } from '@loadout/server/api'
import type { Config } from '@loadout/server/config'
import { openLocal } from '@loadout/server/local'
import { hc, type InferResponseType } from 'hono/client'
import { z } from 'zod'

export type Client = ReturnType<typeof hc<AppType>>

export interface Connection extends AsyncDisposable {
  client: Client
  /** The live server, if there is one. */
  server: LiveServer | undefined
}

export interface LiveServer {
  url: string
  pid: number
}

const serverFile = z.object({ pid: z.number(), url: z.url() })

export async function connect(config: Config): Promise<Connection> {
  const server = await findServer(config.dataDir)
  if (server) return { client: hc<AppType>(server.url), server, [Symbol.asyncDispose]: async () => {} }
  const local = await openLocal(config)
  const fetch = (input: RequestInfo | URL, init?: RequestInit) => local.fetch(new Request(input, init))
  const client = hc<AppType>('http://localhost', { fetch: async (...args: Parameters<typeof fetch>) => fetch(...args) })
  return { client, server: undefined, [Symbol.asyncDispose]: () => local.close() }
}

/** Returns the live server of a data folder from its `server.json`. */
export async function findServer(dataDir: string): Promise<LiveServer | undefined> {
  const noted = await readFile(join(dataDir, 'server.json'), 'utf8').then(
    (text) => serverFile.parse(JSON.parse(text)),
    () => undefined,
  )
  // A killed server leaves `server.json` behind; the folder lock shows whether its process still runs.
  return noted && (await folderHolder(dataDir)) === noted.pid ? noted : undefined
}

/** Throws the problem document of a failed response as `HostError`. */
export async function assertOk(answer: { ok: boolean; json(): Promise<unknown> }): Promise<void> {
  if (answer.ok) return
  const problem = (await answer.json()) as { code: string; detail: string; action: string }
  const code = Object.hasOwn(ERRORS, problem.code) ? (problem.code as ErrorCode) : 'internal'
  throw new HostError(code, { detail: problem.detail, action: problem.action })
}

/** Response of `GET /api/mcp`. */
export async function listToolkits(client: Client) {
  const answer = await client.api.mcp.$get({ query: {} })
  await assertOk(answer)
  return (await answer.json()) as InferResponseType<Client['api']['mcp']['$get'], 200>
}
