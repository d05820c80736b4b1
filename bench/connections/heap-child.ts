/** `node --expose-gc heap-child.ts <contender> <era> <url> <count>`: prints the bytes of heap that one connection takes. */
import { createServices } from '@loadout/core/services'
import { bare, connect, drivers, OWNER, serverOf } from './contenders.ts'
import type { Era, Target } from './targets.ts'

const [contender = '', era, url, count] = process.argv.slice(2)
const target = { type: 'http', url, era: era as Era } as Target

interface Opener {
  /** One more connection, which has listed its tools and made a call. What it gives is kept. */
  open(index: number): Promise<unknown>
  /** Closes the connections and nothing else. */
  closeAll?(): Promise<unknown>
}

const OPENERS: Record<string, () => Opener> = {
  bare: () => ({ open: () => called(bare(target)) }),
  connection() {
    const shared = drivers()
    return { open: () => called(connect(target, shared)) }
  },
  host() {
    const host = createServices({ drivers: drivers(), pool: { maxPerUser: 1000, maxPerHost: 1000 } })
    return {
      async open(index) {
        const toolkit = `kit-${index}`
        const { stored } = await host.toolkits.register({ name: toolkit, server: serverOf(target) }, OWNER)
        await host.catalog.introspect(stored, OWNER.userId)
        const call = { userId: OWNER.userId, toolkit, tool: 'echo', arguments: { text: 'hello' } }
        const { status } = await host.calls.start({ ...call, caller: { type: 'direct' } }).outcome
        if (status !== 'ok') throw new Error(status)
        return host
      },
      closeAll: () => Promise.all(host.connections.status().map(({ key }) => host.connections.retire(key.toolkit))),
    }
  },
}

async function called(opening: ReturnType<typeof bare>) {
  const open = await opening
  await open.call()
  return open
}

async function heap(): Promise<number> {
  for (let turn = 0; turn < 4; turn++) {
    await new Promise((resolve) => setTimeout(resolve, 50))
    globalThis.gc?.()
  }
  return process.memoryUsage().heapUsed
}

const opener = OPENERS[contender]?.()
if (!opener || !globalThis.gc) throw new Error('Unknown contender, or no --expose-gc.')
const retained: unknown[] = []
const perConnection = (bytes: number) => Math.round(bytes / Number(count))
// The first few pay for what all share: code, caches, pools.
for (let index = 0; index < 10; index++) retained.push(await opener.open(index))
const before = await heap()
for (let index = 0; index < Number(count); index++) retained.push(await opener.open(1000 + index))
const after = await heap()
if (!opener.closeAll) console.log(perConnection(after - before))
else {
  // A host also keeps records, tools and pins of each: what its connections take is what closing them gives back.
  await opener.closeAll()
  console.log(perConnection(after - (await heap())))
}
process.exit(retained.length > 0 ? 0 : 1)
