/**
 * A host in a process of its own, driven by lines: `node host-by-lines.ts <database url> <master key>`. A line of JSON on
 * stdin names what to do and gets a line of JSON as its answer; "ready" is said first.
 */

import { createInterface } from 'node:readline'
import { nodeDrivers } from '../connections/node-drivers.ts'
import { masterKeyRing } from '../credentials/master-key.ts'
import { HostError } from '../errors.ts'
import { createHost } from '../host.ts'
import { rule } from '../policy/rule.ts'
import { postgres } from '../storage/postgres.ts'

export type LineCommand =
  | { do: 'refs'; userId: string }
  | { do: 'call'; userId: string; name: string; arguments: Record<string, unknown> }
  | { do: 'register'; userId: string; input: object }
  | { do: 'remove'; userId: string; toolkit: string }
  | { do: 'connections' }

const [url = '', masterKey = ''] = process.argv.slice(2)
const host = createHost({
  policy: [rule('*', 'allow')],
  storage: postgres({ url, maxConnections: 4 }),
  keyRing: () => masterKeyRing(masterKey),
  drivers: nodeDrivers({ baseEnv: { PATH: '/usr/bin:/bin' } }),
})
await host.ready()
const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`)
say({ ready: true })

async function obey(command: LineCommand): Promise<unknown> {
  if (command.do === 'connections') return host.connections.status().length
  const { userId } = command
  const thread = host.thread({ userId, threadId: 't' })
  if (command.do === 'refs') return (await thread.loadout()).tools.map(({ ref }) => ref)
  if (command.do === 'call') return thread.call({ name: command.name, arguments: command.arguments })
  if (command.do === 'remove') return host.toolkits.remove(command.toolkit, { tier: 'user', userId })
  const { stored } = await host.toolkits.register(command.input, { tier: 'user', userId })
  return (await host.catalog.introspect(stored, userId)).length
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, ...command } = JSON.parse(line) as LineCommand & { id: number }
  obey(command).then(
    (answer) => say({ id, answer }),
    (error: unknown) => say({ id, error: HostError.from(error).code }),
  )
}
await host.close()
process.exit(0)
