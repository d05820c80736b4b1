/**
 * A host in a process of its own, driven by lines: `node host-by-lines.ts <database url> <master key> <lease>`. A line of
 * JSON on stdin names what to do and gets a line of JSON as its answer; "ready" is said first.
 */

import { createInterface } from 'node:readline'
import { quickjs } from '../code-mode/quickjs.ts'
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
  | { do: 'sign-in'; userId: string; toolkit: string }
  | {
      do: 'come-back'
      userId: string
      callback: { state: string; code?: string | undefined; iss?: string | undefined }
    }
  /** So many callers at once, each until it is limited; says how many calls were made. */
  | { do: 'burst'; userId: string; name: string; callers: number }
  /** So many callers for so long, with up to so long between calls; says how many calls were made, and how many limited. */
  | { do: 'hammer'; userId: string; name: string; callers: number; ms: number; pauseMs: number }
  /** A call that is kept, and its record. */
  | { do: 'start'; userId: string; toolkit: string; tool: string; idempotencyKey: string }
  | { do: 'record'; userId: string; callId: string }
  | { do: 'app'; patch: object }
  | { do: 'approvals'; userId: string }
  | { do: 'answer'; userId: string; approvalId: string; answer: object }
  | { do: 'preferences'; userId: string; patch: object }
  | { do: 'remove-user'; userId: string }
  /** A program, until it is over or stands; and a run as it is. */
  | { do: 'run'; userId: string; program: string; wait: boolean }
  | { do: 'run-view'; userId: string; runId: string }
  /** A workflow that is not stored, begun; and all runs of a user. */
  | { do: 'workflow'; userId: string; definition: object; input: object; idempotencyKey?: string }
  | { do: 'runs'; userId: string }
  | { do: 'run-step'; userId: string; runId: string; stepId: string; decision: 'repeat' | 'fail' }

const [url = '', masterKey = '', leaseMs] = process.argv.slice(2)
const host = createHost({
  executor: quickjs({ spares: 1 }),
  policy: [rule('*.ask_*', 'ask'), rule('*', 'allow')],
  storage: postgres({ url, maxConnections: 4 }),
  keyRing: () => masterKeyRing(masterKey),
  drivers: nodeDrivers({ baseEnv: { PATH: '/usr/bin:/bin' }, guard: { privateNetwork: true } }),
  processLeaseMs: Number(leaseMs),
  signIn: { redirectUrl: 'http://127.0.0.1:9/api/oauth/callback' },
})
await host.ready()
const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`)
say({ ready: true })

async function obey(command: LineCommand): Promise<unknown> {
  if (command.do === 'connections') return host.connections.status().length
  if (command.do === 'app') return host.app.update(command.patch)
  const { userId } = command
  if (command.do === 'start' || command.do === 'record') return recorded(command)
  if (command.do === 'hammer') return hammer(command)
  if (command.do === 'approvals') return host.approvals.list(userId, { status: 'pending' })
  if (command.do === 'answer') return host.approvals.answer(userId, command.approvalId, command.answer)
  if (command.do === 'preferences') return host.preferences.update(userId, command.patch)
  if (command.do === 'burst') return burst(command)
  if (command.do === 'remove-user') return host.users.remove(userId)
  if (command.do === 'sign-in') return host.signIns.start(userId, command.toolkit)
  if (command.do === 'come-back') return host.signIns.finish(command.callback, { userId })
  if (command.do === 'workflow') return host.workflows.start(userId, command)
  if (command.do === 'runs') return host.runs.list(userId, { limit: 1000 })
  if (command.do === 'run-view') return host.runs.get(userId, command.runId)
  if (command.do === 'run-step') return host.runs.resolve(userId, command.runId, command)
  const thread = host.thread({ userId, threadId: 't' })
  if (command.do === 'run') return thread.run({ program: command.program }, { wait: command.wait })
  if (command.do === 'refs') return (await thread.loadout()).tools.map(({ ref }) => ref)
  if (command.do === 'call') return thread.call({ name: command.name, arguments: command.arguments })
  if (command.do === 'remove') return host.toolkits.remove(command.toolkit, { tier: 'user', userId })
  const { stored } = await host.toolkits.register(command.input, { tier: 'user', userId })
  return (await host.catalog.introspect(stored, userId)).length
}

async function burst({ userId, name, callers }: { userId: string; name: string; callers: number }): Promise<number> {
  const thread = host.thread({ userId, threadId: 't' })
  let made = 0
  const call = async (): Promise<void> => {
    for (;;) {
      const { status } = await thread.call({ name, arguments: { text: 'x' } })
      if (status === 'limited') return
      if (status !== 'ok') throw new HostError('internal', { detail: status })
      made++
    }
  }
  await Promise.all(Array.from({ length: callers }, call))
  return made
}

async function hammer({ userId, name, callers, ms, pauseMs }: Extract<LineCommand, { do: 'hammer' }>) {
  const thread = host.thread({ userId, threadId: 't' })
  const until = Date.now() + ms
  const count = { made: 0, limited: 0 }
  const call = async (): Promise<void> => {
    while (Date.now() < until) {
      const { status } = await thread.call({ name, arguments: { text: 'x' } })
      if (status !== 'ok' && status !== 'limited') throw new HostError('internal', { detail: status })
      if (status === 'ok') count.made++
      else count.limited++
      await new Promise((resolve) => setTimeout(resolve, Math.random() * pauseMs))
    }
  }
  await Promise.all(Array.from({ length: callers }, call))
  return count
}

async function recorded(command: Extract<LineCommand, { do: 'start' | 'record' }>) {
  const { userId } = command
  if (command.do === 'record') return host.records.get(userId, command.callId)
  const { toolkit, tool, idempotencyKey } = command
  const request = { userId, toolkit, tool, arguments: {}, caller: { type: 'direct' as const } }
  const started = await host.records.start(request, { idempotencyKey })
  return 'row' in started ? started.row : { callId: started.callId }
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
