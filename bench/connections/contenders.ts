/** The bare client of the SDK, one of our connections, and the whole way of a call through a host. */

import { type Drivers, rule } from '@loadout/core'
import { nodeDrivers } from '@loadout/core/node'
import { createServices, type Server } from '@loadout/core/services'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { Target } from './targets.ts'

export interface Open {
  call(): Promise<void>
  close(): Promise<void>
}
export type Contender = (target: Target) => Promise<Open>

const ARGUMENTS = { text: 'hello' }
const LIMITS = { timeoutMs: 60_000, totalMs: 600_000 }
const env = { PATH: '/usr/bin:/bin' }
export const OWNER = { tier: 'user', userId: 'ann' } as const

export const drivers = () => nodeDrivers({ guard: { privateNetwork: true }, baseEnv: env })

/** `auto` asks for the new era first, as ours does; without it the client speaks the old one. */
export async function bareClient(target: Target, auto = target.era === 'modern'): Promise<Client> {
  const client = new Client(
    { name: 'bench', version: '1.0.0' },
    auto ? { versionNegotiation: { mode: 'auto' } } : undefined,
  )
  const transport =
    target.type === 'http'
      ? new StreamableHTTPClientTransport(new URL(target.url))
      : new StdioClientTransport({ command: target.command, args: target.args, env, stderr: 'pipe' })
  await client.connect(transport)
  return client
}

export const bare: Contender = async (target) => {
  const client = await bareClient(target)
  assertEra(client.getProtocolEra(), target)
  await client.listTools()
  return {
    async call() {
      const { content } = await client.callTool({ name: 'echo', arguments: ARGUMENTS })
      assertEcho(content)
    },
    close: () => client.close(),
  }
}

/** One connection of ours, over drivers that others may share. */
export async function connect(target: Target, ours: Drivers): Promise<Open> {
  const hooks = {
    onListChanged: () => {},
    onClosed: () => {},
    onElicitation: async () => ({ action: 'decline' as const }),
  }
  const connection = await ours.open({ server: serverOf(target), connectMs: 10_000 }, hooks, 'user')
  assertEra(connection.info.era, target)
  await connection.list('tools', LIMITS)
  return {
    async call() {
      const { content } = await connection.callTool({ name: 'echo', arguments: ARGUMENTS }, LIMITS)
      assertEcho(content)
    },
    close: () => connection.close(),
  }
}

export const ourConnection: Contender = async (target) => {
  const ours = drivers()
  const { call, close } = await connect(target, ours)
  return { call, close: () => close().then(() => ours.close()) }
}

export const ourHost: Contender = async (target) => {
  const host = createServices({ policy: [rule('*', 'allow')], drivers: drivers() })
  const { stored } = await host.toolkits.register({ name: 'bench', server: serverOf(target) }, OWNER)
  await host.catalog.introspect(stored, OWNER.userId)
  const request = { userId: OWNER.userId, toolkit: 'bench', tool: 'echo', caller: { type: 'direct' } as const }
  return {
    async call() {
      const outcome = await host.calls.start({ ...request, arguments: ARGUMENTS }).outcome
      if (!('content' in outcome)) throw outcome.error
      assertEcho(outcome.content)
    },
    close: () => host.close(),
  }
}

export function serverOf(target: Target): Server {
  return target.type === 'http'
    ? { type: 'http', url: target.url, headers: {}, auth: { type: 'none' } }
    : { type: 'stdio', command: target.command, args: target.args, env: {} }
}

function assertEra(era: string | undefined, target: Target): void {
  if ((era ?? 'legacy') !== target.era) throw new Error(`Expected the ${target.era} era and got ${era}.`)
}

function assertEcho(content: unknown): void {
  const [block] = content as Array<{ text?: string }>
  if (block?.text !== '{"text":"hello"}') throw new Error(`Not the echo: ${JSON.stringify(content)}`)
}
