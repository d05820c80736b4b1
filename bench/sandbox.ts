/** The time that a sandbox adds to the start of a stdio server: the median of so many starts. */
import type { Drivers } from '@loadout/core'
import { nodeDrivers } from '@loadout/core/node'
import { openSandboxed, sandboxed } from '../packages/loadout/test/fixtures/sandboxed-server.ts'

const STARTS = 15

async function startMs(open: Drivers, record: object = {}): Promise<number> {
  const times: number[] = []
  for (let run = 0; run < STARTS; run++) {
    const from = performance.now()
    const { connection } = await openSandboxed(open, { command: process.execPath, ...record })
    times.push(performance.now() - from)
    await connection.close()
  }
  return times.sort((a, b) => a - b)[Math.floor(STARTS / 2)] as number
}

const [direct, inside] = [nodeDrivers({ stdio: 'on' }), sandboxed()]
const bare = await startMs(direct)
const boxed = await startMs(inside)
const declared = await startMs(inside, { hosts: ['example.com'] })
await Promise.all([direct.close(), inside.close()])
const [text, added, withHosts] = [bare, boxed - bare, declared - bare].map((ms) => `${ms.toFixed(1)} ms`)
console.log(`Start of a server: ${text} without a sandbox; a sandbox adds ${added}, with declared hosts ${withHosts}.`)
