/**
 * A host that records what it does, to be killed: `node audited-host.ts <options as JSON>`. It calls a server that logs
 * what it gets, each call with a number of its own, until it is killed; or it ships what others left and says what is in
 * the log. `careless` keeps no journal, to see that this is found.
 */
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fileJournal } from '../audit/file-journal.ts'
import { memoryJournal } from '../audit/journal.ts'
import { nodeDrivers } from '../connections/node-drivers.ts'
import { masterKeyRing } from '../credentials/master-key.ts'
import { createHost } from '../host.ts'
import { pglite } from '../storage/pglite.ts'
import { postgres } from '../storage/postgres.ts'

export interface AuditedHostOptions {
  do: 'call' | 'show'
  /** For the journal, the server's log, and PGlite where there is no url. */
  folder: string
  url?: string
  masterKey: string
  /** The first number. */
  from?: number
  everyMs?: number
  careless?: boolean
  strict?: boolean
}

const FAULTY = fileURLToPath(new URL('./fault-stdio.ts', import.meta.url))
const options = JSON.parse(process.argv[2] ?? '') as AuditedHostOptions
const { folder, url, masterKey, careless = false, strict = false } = options
const journalDir = join(folder, 'journal')
const host = createHost({
  storage: url === undefined ? pglite({ dataDir: join(folder, 'data') }) : postgres({ url, maxConnections: 4 }),
  keyRing: () => masterKeyRing(masterKey),
  drivers: nodeDrivers({ baseEnv: { PATH: '/usr/bin:/bin' } }),
  audit: { journal: careless ? memoryJournal() : fileJournal({ dir: journalDir }), strict },
})
await host.ready()
const say = (value: object) =>
  new Promise<void>((resolve) => process.stdout.write(`${JSON.stringify(value)}\n`, () => resolve()))
if (options.do === 'call') await call()
else await show()

async function call(): Promise<void> {
  const script = join(folder, 'script')
  writeFileSync(script, JSON.stringify({ logArguments: true }))
  const owner = { tier: 'user', userId: 'ann' } as const
  const args = [FAULTY, script, join(folder, 'server.log')]
  const { stored } = await host.toolkits.register({ name: 'kit', command: process.execPath, args }, owner)
  await host.catalog.introspect(stored, 'ann')
  let next = options.from ?? 0
  const one = () => {
    const call = { userId: 'ann', toolkit: 'kit', tool: 'echo', arguments: { text: 'x', n: next++ } }
    const { outcome } = host.calls.start({ ...call, caller: { type: 'direct' } })
    void outcome.then(({ status }) => (status === 'ok' ? undefined : say({ status })))
  }
  one()
  await say({ calling: process.pid })
  const [from, started] = [next, performance.now()]
  // By the clock, so that a machine that is busy does not make it slower.
  setInterval(() => {
    while (next - from < (performance.now() - started) / (options.everyMs ?? 5)) one()
  }, 1)
}

async function show(): Promise<void> {
  const waiting = () => {
    try {
      return readdirSync(journalDir).filter((name) => name.endsWith('.journal')).length
    } catch {
      return 0
    }
  }
  const found = waiting()
  while (waiting() > 0) await new Promise((resolve) => setTimeout(resolve, 20))
  const items: unknown[] = []
  for await (const lines of host.audit.export({ everyone: true }, 'jsonl'))
    for (const line of lines.trim().split('\n')) items.push(JSON.parse(line))
  await say({ found, verdict: await host.audit.verify(), items })
  await host.close()
  process.exit(0)
}
