/** One server through Loadout and through the official client: what each lists, what some calls answer, and the differences. */

import { rule } from '@loadout/core'
import { nodeDrivers } from '@loadout/core/node'
import { createServices } from '@loadout/core/services'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { Installed } from './install.ts'

export interface Seen {
  tools: Map<string, string>
  era?: string | undefined
  /** Texts of the answers, in the order of the calls. */
  answers: string[]
  warnings: string[]
}

export interface Compared {
  loadout: Seen | Error
  official: Seen | Error
  differences: string[]
}

const CONNECT_MS = 120_000

export async function compare(installed: Installed): Promise<Compared> {
  // One after the other: both start the same command on the same files.
  const official = await throughClient(installed).catch(asError)
  const loadout = await throughLoadout(installed).catch(asError)
  return { loadout, official, differences: differencesOf(loadout, official) }
}

const asError = (error: unknown) => (error instanceof Error ? error : new Error(String(error)))

/** The environment that Loadout gives to commands, so that both clients see the same order of Python's sets. */
const environment = (own: Record<string, string>) => ({
  PYTHONHASHSEED: '0',
  PATH: process.env.PATH ?? '',
  HOME: process.env.HOME ?? '',
  ...own,
})

async function throughLoadout({ command, args, env, calls }: Installed): Promise<Seen> {
  await using host = createServices({ drivers: nodeDrivers(), policy: [rule('*', 'allow')] })
  const timeouts = { connectMs: CONNECT_MS, introspectMs: CONNECT_MS }
  const record = { name: 'kit', command, args, env: environment(env), timeouts }
  const { stored } = await host.toolkits.register(record, { tier: 'user', userId: 'prove' })
  const manifests = await host.catalog.introspect(stored, 'prove')
  const { setAside } = await host.views.one('prove', 'kit')
  const answers: string[] = []
  for (const { tool, arguments: args } of calls) {
    const call = { userId: 'prove', toolkit: 'kit', tool, arguments: args, caller: { type: 'direct' as const } }
    const outcome = await host.calls.start(call as Parameters<typeof host.calls.start>[0]).outcome
    answers.push('content' in outcome ? textOf(outcome.content) : `${outcome.status}: ${outcome.error.message}`)
  }
  const tools = new Map(manifests.map(({ name, inputSchema }) => [name, canonical(inputSchema)]))
  return { tools, answers, warnings: setAside.map(({ name, reason }) => `${name} is skipped: ${reason}`) }
}

async function throughClient({ command, args, env, calls }: Installed): Promise<Seen> {
  // Servers offer tools by what a client can do: this one can do what Loadout can.
  const capabilities = { elicitation: { form: { applyDefaults: true }, url: {} } }
  const client = new Client({ name: 'prove', version: '1.0.0' }, { capabilities, versionNegotiation: { mode: 'auto' } })
  const transport = new StdioClientTransport({ command, args, env: environment(env), stderr: 'ignore' })
  try {
    await client.connect(transport, { timeout: CONNECT_MS })
    const tools = new Map<string, string>()
    for (let cursor: string | undefined; ; ) {
      const page = await client.listTools(cursor === undefined ? {} : { cursor }, { timeout: CONNECT_MS })
      for (const { name, inputSchema } of page.tools) tools.set(name, canonical(inputSchema))
      cursor = page.nextCursor
      if (cursor === undefined) break
    }
    const answers: string[] = []
    for (const { tool, arguments: args } of calls) {
      const result = await client.callTool({ name: tool, arguments: args })
      answers.push(textOf(result.content as object[]))
    }
    return { tools, answers, era: client.getNegotiatedProtocolVersion(), warnings: [] }
  } finally {
    await client.close()
  }
}

const textOf = (content: readonly object[]) => canonical(content)

/** Key order and a missing `type` of the whole schema mean nothing. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}

function differencesOf(loadout: Seen | Error, official: Seen | Error): string[] {
  if (loadout instanceof Error && official instanceof Error) return [`fails with both: ${firstLine(official)}`]
  if (loadout instanceof Error) return [`fails with Loadout: ${firstLine(loadout)}`]
  if (official instanceof Error) return [`fails with the official client: ${firstLine(official)}`]
  const missing = [...official.tools.keys()].filter((name) => !loadout.tools.has(name))
  const more = [...loadout.tools.keys()].filter((name) => !official.tools.has(name))
  const changed = [...official.tools].filter(([name, schema]) => (loadout.tools.get(name) ?? schema) !== schema)
  const calls = official.answers.flatMap((answer, at) =>
    answer === loadout.answers[at] ? [] : [`call ${at + 1} answers differently`],
  )
  return [
    ...(missing.length > 0 ? [`missing in Loadout: ${missing.join(', ')}`] : []),
    ...(more.length > 0 ? [`only in Loadout: ${more.join(', ')}`] : []),
    ...(changed.length > 0 ? [`schema differs: ${changed.map(([name]) => name).join(', ')}`] : []),
    ...calls,
    ...loadout.warnings,
  ]
}

const firstLine = ({ message }: Error) => (message.split('\n')[0] ?? '').slice(0, 160)
