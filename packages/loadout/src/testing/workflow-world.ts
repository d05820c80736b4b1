/** A host with tools that are functions, for tests of workflows: what was called is noted, can be held, and can be made to fail. */
import { quickjs } from '../code-mode/quickjs.ts'
import type { HostEvent } from '../events.ts'
import { createHost, type Host } from '../host.ts'
import { rule } from '../policy/rule.ts'
import type { RunView } from '../schema/run.ts'
import type { Agent } from '../workflow/agent.ts'

export interface WorkflowWorld {
  host: Host
  /** Each call that reached a tool: its name and its arguments. */
  made: string[]
  events: HostEvent[]
  /** Calls at once. */
  atOnce: { now: number; most: number }
  /** What calls wait for, by name. */
  gates: Map<string, Promise<void>>
  /** How often a tool fails from now on. */
  failing: Map<string, number>
  /** What agents do. */
  agent: Agent | undefined
  run(nodes: object[], more?: { input?: unknown; output?: unknown; schema?: object }): Promise<RunView>
  /** What was told of a node, in its order. */
  told(node: string): string[]
  /** Answers all that a run waits for. */
  answer(view: RunView, decision: 'allow' | 'deny'): Promise<RunView>
}

export const kit = (id: string, name: string, more: object = {}) => ({ id, type: 'tool', ref: `kit.${name}`, ...more })

export async function openWorkflowWorld(): Promise<WorkflowWorld> {
  const host = createHost({
    executor: quickjs({ spares: 1 }),
    policy: [rule('*.ask_*', 'ask'), rule('*', 'allow')],
    agent: (request) => (world.agent as Agent)(request),
  })
  const events: HostEvent[] = []
  const world: WorkflowWorld = {
    ...{ host, events, made: [], atOnce: { now: 0, most: 0 }, gates: new Map(), failing: new Map(), agent: undefined },
    run(nodes, { input, output, schema } = {}) {
      const more = { ...(output === undefined ? {} : { output }), ...(schema ? { input: schema } : {}) }
      return host.workflows.run('ann', { definition: { name: 'w', nodes, ...more }, input })
    },
    told: (node) => events.flatMap((one) => (one.type === 'run-node' && one.node === node ? [one.status] : [])),
    async answer(view, decision) {
      for (const { approvalId } of view.steps.filter((step) => step.status === 'paused'))
        await host.approvals.answer('ann', approvalId ?? '', { decision })
      return host.runs.settled('ann', view.id)
    },
  }
  await host.ready()
  await host.toolkits.register({ name: 'kit', tools: toolsOf(world) }, { tier: 'user', userId: 'ann' })
  host.events.on((event) => events.push(event))
  return world
}

function toolsOf({ made, atOnce, gates, failing }: WorkflowWorld) {
  const tool = (name: string, execute: (input: never) => unknown, annotations: object = {}) => ({
    ...{ name, description: `Does ${name}.`, inputSchema: { type: 'object' }, annotations },
    execute: async (input: never) => {
      made.push(`${name}${JSON.stringify(input)}`)
      atOnce.most = Math.max(atOnce.most, ++atOnce.now)
      await gates.get(name)
      atOnce.now--
      const left = failing.get(name) ?? 0
      failing.set(name, Math.max(0, left - 1))
      if (left > 0) throw new Error(`${name} broke`)
      return execute(input)
    },
  })
  return [
    tool('get', (input: object) => ({ ...input, got: true }), { readOnlyHint: true }),
    tool('write', (input: { n?: number }) => ({ wrote: input.n ?? 0 })),
    tool('list', ({ count, more }: { count: number; more?: object }) => ({
      items: Array.from({ length: count }, (_, n) => ({ n, ...more })),
    })),
    tool('ask_me', () => 'asked'),
    tool('slow', () => 'slow'),
  ]
}
