/**
 * CPU time of `import '@loadout/core'` as it is published, beside `import '@modelcontextprotocol/client'`, in interleaved
 * processes; and the installed size without optional packages.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packPackages } from '../scripts/build/pack.ts'

const ROUNDS = Number(process.argv[2] ?? 15)
const folder = mkdtempSync(join(tmpdir(), 'loadout-import-'))
const modules = ['@modelcontextprotocol/client', '@loadout/core']

function cpuMs(name: string): number {
  const program = `const before = process.cpuUsage(); await import('${name}')
    const { user, system } = process.cpuUsage(before); console.log((user + system) / 1000)`
  const options = { cwd: folder, encoding: 'utf8' as const, env: { PATH: process.env.PATH } }
  return Number(execFileSync(process.execPath, ['--input-type=module', '-e', program], options))
}

const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

const sizeOf = (path: string): number =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)

try {
  const tarballs = await packPackages(join(folder, 'tarballs'))
  writeFileSync(join(folder, 'package.json'), '{"private":true}')
  const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error']
  execFileSync('npm', ['install', ...quiet, tarballs['@loadout/core'] as string], { cwd: folder })
  if (!existsSync(join(folder, 'node_modules/@modelcontextprotocol/client'))) throw new Error('The client is missing.')
  const times: Record<string, number[]> = Object.fromEntries(modules.map((name) => [name, []]))
  for (let round = 0; round < ROUNDS; round++) for (const name of modules) times[name]?.push(cpuMs(name))
  const [client = 0, core = 0] = modules.map((name) => median(times[name] ?? []))
  process.stdout.write(`client ${client.toFixed(0)} ms, core ${core.toFixed(0)} ms of CPU (medians of ${ROUNDS})\n`)
  process.stdout.write(`ratio ${(core / client).toFixed(2)} (goal: 1.30)\n`)
  const megabytes = sizeOf(join(folder, 'node_modules')) / 1e6
  process.stdout.write(`installed ${megabytes.toFixed(1)} MB (goal: under 40 MB)\n`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
