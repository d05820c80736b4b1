/**
 * `npm run conformance`: the official suite against our HTTP API, in both revisions and as a whole, so often in a row. Every
 * scenario must pass, and none by checking nothing.
 */
import { spawn } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { configFromEnvironment } from '../../apps/server/src/config.ts'
import { createLog } from '../../apps/server/src/ops/log.ts'
import { startServer } from '../../apps/server/src/serve.ts'

const SUITES = [
  { name: '2025-11-25', args: ['--requirements', '2025-11-25'], scenarios: 18, isFrozen: true },
  { name: '2026-07-28', args: ['--requirements', '2026-07-28'], scenarios: 32, isFrozen: true },
  { name: 'all', args: ['--suite', 'all'], scenarios: 48, isFrozen: false },
] as const

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const BIN = join(ROOT, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')
const CLIENT = join(ROOT, 'scripts/conformance/client.ts')

export interface ScenarioResult {
  scenario: string
  passed: boolean
  checks: number
  failures: string[]
}

/** One suite, once. With `only`, that scenario alone. */
export async function runSuite(url: string, args: readonly string[]): Promise<ScenarioResult[]> {
  const out = await mkdtemp(join(tmpdir(), 'loadout-conformance-'))
  try {
    const command = `${process.execPath} ${CLIENT}`
    await new Promise<void>((resolve) => {
      const child = spawn(process.execPath, [BIN, 'client', '--command', command, ...args, '-o', out], {
        env: { ...process.env, LOADOUT_URL: url },
        stdio: ['ignore', process.env.LOADOUT_CONFORMANCE_VERBOSE ? 'inherit' : 'ignore', 'inherit'],
      })
      child.on('close', () => resolve())
    })
    return await readResults(out)
  } finally {
    if (!process.env.LOADOUT_CONFORMANCE_KEEP) await rm(out, { recursive: true, force: true })
    else console.log(`kept ${out}`)
  }
}

/** What the runner wrote: a folder a scenario. */
async function readResults(out: string): Promise<ScenarioResult[]> {
  const files = (await readdir(out, { recursive: true })).filter((name) => name.endsWith('checks.json'))
  const results = await Promise.all(
    files.map(async (file): Promise<ScenarioResult> => {
      const checks = JSON.parse(await readFile(join(out, file), 'utf8')) as Array<{
        id: string
        status: string
        description?: string
        errorMessage?: string
      }>
      const failures = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
      const successes = checks.filter(({ status }) => status === 'SUCCESS').length
      return {
        scenario: file.replace(/-\d{4}-\d\d-\d\dT.*$/, '').replace(/\/checks\.json$/, ''),
        passed: failures.length === 0 && successes > 0,
        checks: successes,
        failures: failures.map(({ id, errorMessage, description }) => `${id}: ${errorMessage ?? description ?? ''}`),
      }
    }),
  )
  return results.sort((a, b) => a.scenario.localeCompare(b.scenario))
}

/** A server with everything open that the suite needs: its servers are on this machine. */
export async function startForSuite(dataDir: string) {
  const config = configFromEnvironment({
    PORT: '0',
    LOADOUT_DATA_DIR: dataDir,
    LOADOUT_MODE: 'local',
    LOADOUT_PRIVATE_NETWORK: 'on',
    LOADOUT_PUBLIC_URL: 'https://conformance-test.local',
    LOG_LEVEL: 'silent',
    MCP_TOOL_CACHE_TTL_MS: '3600000',
  })
  const server = await startServer(config, { log: createLog('silent') })
  const rules = [{ pattern: '*', decision: 'allow' }]
  const set = await fetch(`${server.url}/api/policy`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ rules }),
  })
  if (!set.ok) throw new Error(`The policy could not be set: ${await set.text()}`)
  return server
}

interface Suite {
  name: string
  scenarios: number
  /** Whether a revision's requirements say which scenarios count; the others are run too, and told. */
  isFrozen: boolean
}

async function isGood({ name, scenarios, isFrozen }: Suite, all: ScenarioResult[], turn: number): Promise<boolean> {
  const counted = isFrozen ? await required(name) : undefined
  const results = counted ? all.filter(({ scenario }) => counted.has(scenario)) : all
  const passed = results.filter((one) => one.passed)
  const checks = results.reduce((sum, one) => sum + one.checks, 0)
  const beside = all.filter((one) => !results.includes(one))
  const others =
    beside.length === 0 ? '' : `; beside them ${beside.filter((one) => one.passed).length}/${beside.length}`
  console.log(`${turn}. ${name}: ${passed.length}/${scenarios} scenarios, ${checks} checks${others}`)
  for (const { scenario, failures, checks: count } of all.filter((one) => !one.passed))
    console.log(`   ✗ ${scenario} (${count} good) ${failures.slice(0, 5).join(' | ')}`)
  return passed.length === scenarios && results.length === scenarios
}

/** The scenarios for clients that a revision requires: a list of names under `client:`. */
async function required(revision: string): Promise<Set<string>> {
  const text = await readFile(join(BIN, '../../requirements', `${revision}.yaml`), 'utf8')
  const section = /^client:\n((?:[ \t#].*\n|\n)*)/m.exec(text)?.[1] ?? ''
  return new Set([...section.matchAll(/^\s*- ([\w./-]+)/gm)].map(([, scenario]) => scenario as string))
}

async function main(): Promise<void> {
  const times = Number(process.argv[2] ?? 3)
  const only = process.argv[3]
  const dataDir = await mkdtemp(join(tmpdir(), 'loadout-conformance-data-'))
  const server = await startForSuite(dataDir)
  let failed = false
  try {
    const suites = only ? [{ name: only, args: ['--scenario', only], scenarios: 1, isFrozen: false }] : SUITES
    for (let turn = 1; turn <= times; turn++)
      for (const suite of suites) {
        const results = await runSuite(server.url, suite.args)
        if (!(await isGood(suite, results, turn))) failed = true
      }
  } finally {
    await server.close()
    await rm(dataDir, { recursive: true, force: true })
  }
  process.exit(failed ? 1 : 0)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main()
