import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { HostError } from '@loadout/core'
import { parse, parseJson } from '@loadout/core/schema'
import { defineCommand } from 'citty'
import type { InferResponseType } from 'hono/client'
import { z } from 'zod'
import { assertOk, type Client, connect, listToolkits } from '../client.ts'
import { followStarts } from '../follow-starts.ts'
import { COMMON, configFrom } from '../options.ts'
import { print, table } from '../print.ts'
import { startReports } from '../start-reports.ts'

type Report = InferResponseType<Client['api']['mcp']['import']['$post'], 200>

export const importConfig = defineCommand({
  meta: { name: 'import', description: 'Add toolkits from a config of another app' },
  args: {
    file: { type: 'positional', description: 'The config, for example .mcp.json', required: true },
    preview: { type: 'boolean', description: 'Say what it would do, and write nothing', default: false },
    value: { type: 'string', description: 'The value of an input; as often as needed', valueHint: 'NAME=value' },
    values: { type: 'string', description: 'A JSON file with the values of inputs, by name', valueHint: 'file' },
    wait: { type: 'boolean', description: 'Wait until the servers are connected or have failed', default: true },
    only: { type: 'string', description: 'The entry that is meant; as often as needed', valueHint: 'name' },
    ...COMMON,
  },
  run: ({ args, rawArgs }) =>
    print(args.json, async () => {
      const text = await readFile(args.file, 'utf8')
      const values = { ...(await readValues(args.values)), ...pairsOf(repeated(rawArgs, 'value')) }
      const only = repeated(rawArgs, 'only')
      const { preview } = args
      await using connection = await connect(configFrom(args))
      const { client } = connection
      const json = { text, values, preview, ...(only.length > 0 ? { only } : {}) }
      const answer = await followStarts(
        client,
        (line) => void (args.json || console.error(line)),
        () => client.api.mcp.import.$post({ query: { wait: args.wait ? 'true' : 'false' }, json }),
      )
      await assertOk(answer)
      const report = (await answer.json()) as Report
      const written = new Set(report.entries.flatMap(({ id }) => id ?? []))
      const isDiscovered = args.wait && !preview && !args.json && written.size > 0
      const toolkits = isDiscovered ? (await listToolkits(client)).toolkits.filter(({ id }) => written.has(id)) : []
      const isWhole = report.entries.every(({ status }) => status === 'added' || status === 'updated')
      if (!preview && !isWhole) process.exitCode = 1
      return { data: report, text: [describe(report, preview), ...startReports(toolkits)].join('\n') }
    }),
})

/** All values of a repeated flag; the command parser keeps only the last. */
function repeated(rawArgs: string[], name: string): string[] {
  const options = { [name]: { type: 'string', multiple: true } } as const
  const { values } = parseArgs({ args: rawArgs, options, strict: false, allowPositionals: true })
  return [values[name] ?? []].flat().filter((value) => typeof value === 'string')
}

function pairsOf(pairs: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=')
      if (at < 1)
        throw new HostError('invalid-input', {
          detail: 'A --value lacks its "=".',
          action: 'Write --value NAME=value.',
        })
      return [pair.slice(0, at), pair.slice(at + 1)]
    }),
  )
}

async function readValues(file: string | undefined): Promise<Record<string, string>> {
  if (file === undefined) return {}
  return parse(z.record(z.string(), z.string()), parseJson(await readFile(file, 'utf8')))
}

function describe({ entries, warnings }: Report, preview: boolean): string {
  const rows = entries.map(({ name, status, id, reason }) =>
    [name, status, reason ?? id ?? ''].map(withoutControlCharacters),
  )
  const notes = entries.flatMap((entry) =>
    entry.warnings.map((warning) => withoutControlCharacters(`${entry.name}: ${warning}`)),
  )
  const head = preview ? ['This is a preview; nothing was written.'] : []
  const body = rows.length > 0 ? [table(rows)] : ['There are no servers in it.']
  return [...head, ...body, ...notes, ...warnings.map(withoutControlCharacters)].join('\n')
}

// Names come from third-party configs, and a terminal executes control characters.
const withoutControlCharacters = (text: string) => text.replace(/[\p{Cc}\p{Cf}]/gu, '')
