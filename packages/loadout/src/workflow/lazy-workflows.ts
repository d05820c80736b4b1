/** Workflows whose parser, expressions and runner load with the first use: most hosts start without them. */
import type { RunWork } from '../runs/engine.ts'
import type { RunRow, RunView, StepRow } from '../schema/records/run.ts'
import type { Workflows } from './workflows.ts'

export interface WorkflowParts {
  workflows: Workflows
  work: RunWork
}

type Modules = Awaited<ReturnType<typeof loadModules>>

async function loadModules() {
  const [{ preflight }, { createWorkflowWork }, { createWorkflows }] = await Promise.all([
    import('./preflight/preflight.ts'),
    import('./run/execute-run.ts'),
    import('./workflows.ts'),
  ])
  return { preflight, createWorkflowWork, createWorkflows }
}

/** `create` runs once, with the loaded modules. */
export function lazyWorkflows(create: (modules: Modules) => WorkflowParts): WorkflowParts {
  let created: Promise<WorkflowParts> | undefined
  const parts = () => {
    created ??= loadModules().then(create)
    return created
  }
  const later = <K extends Exclude<keyof Workflows, 'follow'>>(method: K) =>
    (async (...args: unknown[]) => {
      const { workflows } = await parts()
      return (workflows[method] as (...args: unknown[]) => Promise<unknown>)(...args)
    }) as Workflows[K]
  return {
    work: async (run) => (await parts()).work(run),
    workflows: {
      list: later('list'),
      get: later('get'),
      versions: later('versions'),
      delete: later('delete'),
      create: later('create'),
      update: later('update'),
      validate: later('validate'),
      check: later('check'),
      start: later('start'),
      run: later('run'),
      rerun: later('rerun'),
      async *follow(...args) {
        yield* (await parts()).workflows.follow(...args)
      },
    },
  }
}

/** Progress of all maps of a workflow run. Other runs have none and load nothing. */
export async function workflowProgress(row: RunRow, steps: readonly StepRow[]): Promise<Pick<RunView, 'progress'>> {
  if (row.kind !== 'workflow') return {}
  const { progressOf } = await import('./watch/node-states.ts')
  return progressOf(row, steps)
}
