/**
 * A host to be killed: `node host-process.ts <folder> [note folder]`. It starts two servers that ignore SIGTERM and have
 * a child each, prints "ready <pid> <pid>" of the two, and waits. What the servers note is in `<folder>/<n>.log`.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { nodeDrivers } from '../connections/node-drivers.ts'
import { createHost, type Host } from '../host.ts'

const FAULTY = fileURLToPath(new URL('./fault-stdio.ts', import.meta.url))
const owner = { tier: 'user', userId: 'ann' } as const

/** A host with stubborn servers in this folder; `started` when all are connected. */
export function stubbornHost(folder: string, options: { processDir?: string } = {}) {
  const host = createHost({ drivers: nodeDrivers({ ...options, baseEnv: { PATH: '/usr/bin:/bin' } }) })
  writeFileSync(join(folder, 'script'), JSON.stringify({ ignoreTerm: true, child: true }))
  const start = async (index: number) => {
    const args = [FAULTY, join(folder, 'script'), join(folder, `${index}.log`)]
    const input = { name: `stubborn ${index}`, command: process.execPath, args, timeouts: { introspectMs: 60_000 } }
    const { stored } = await host.toolkits.register(input, owner)
    await host.catalog.introspect(stored, owner.userId)
  }
  return { host, started: Promise.all([start(0), start(1)]) }
}

export const pidsOf = (host: Host) => host.connections.status().flatMap((line) => line.diagnostics().pid ?? [])

const [, script, folder, processDir] = process.argv
if (script === fileURLToPath(import.meta.url) && folder) {
  const { host, started } = stubbornHost(folder, processDir ? { processDir } : {})
  await started
  process.stdout.write(`ready ${pidsOf(host).join(' ')}\n`)
  setInterval(() => {}, 1000)
}
