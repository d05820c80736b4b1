/** Workflows, as an app and a server see them: stored, checked, and run. What is wrong with one is told all at once. */

import { HostError } from '../errors.ts'
import type { Emitter } from '../events.ts'
import type { Loadouts } from '../loadout/loadouts.ts'
import type { Engine } from '../runs/engine.ts'
import { invalidFields } from '../schema/json.ts'
import type { RunView } from '../schema/records/run.ts'
import type { WorkflowView } from '../schema/records/workflow.ts'
import type { Plan } from './definition/plan.ts'
import { planOf } from './definition/read-definition.ts'
import { previewInlineToolkits, readInlineToolkits } from './inline-toolkits.ts'
import { checkDefinition, type DefinitionDeps } from './preflight/check-definition.ts'
import type { Preflight, PreflightScope } from './preflight/preflight.ts'
import {
  type RerunOptions,
  type ResolvedWorkflow,
  rerunWorkflow,
  type StartDeps,
  type StartOptions,
  startWorkflow,
  type WhichWorkflow,
} from './start-workflow.ts'
import { createStoredWorkflows, type StoredWorkflows, type WorkflowToSave } from './stored-workflows.ts'
import { type FollowDeps, type FollowOptions, followRun } from './watch/follow-run.ts'
import type { NodeState } from './watch/node-states.ts'

export type { WhichWorkflow }

/** As a run would be started. */
export type CheckScope = Pick<StartOptions, 'threadId' | 'mcpServers'>

export interface Workflows extends Pick<StoredWorkflows, 'list' | 'get' | 'versions' | 'delete'> {
  /** `conflict` where the name is taken; `invalid-input` with every problem of the definition. */
  create(userId: string, definition: unknown): Promise<WorkflowView>
  /** Makes the next version, where anything changed; `conflict` where it is not on top of the one that was expected. */
  update(userId: string, workflow: WorkflowToSave, definition: unknown): Promise<WorkflowView>
  /** What is wrong with a definition; nothing where it may be saved. */
  validate(userId: string, definition: unknown): Promise<HostError | undefined>
  /** What would stop a run of it now. It calls no tool and starts no server. */
  check(userId: string, which: WhichWorkflow, scope?: CheckScope): Promise<Preflight>
  /** Starts a run, which looks ahead itself; `host.runs` tells what becomes of it. */
  start(userId: string, options: WhichWorkflow & StartOptions): Promise<RunView>
  /** The same, until it is over or stands. */
  run(userId: string, options: WhichWorkflow & StartOptions): Promise<RunView>
  /** A run as its nodes go, whichever process works on it: first what has happened, then each change, until it stands. */
  follow(userId: string, runId: string, options?: FollowOptions): AsyncIterable<NodeState>
  /** A new run of the same, that takes over what was completed before a node. */
  rerun(userId: string, runId: string, options: RerunOptions): Promise<RunView>
}

export interface WorkflowDeps extends StartDeps, DefinitionDeps, FollowDeps {
  engine: Pick<Engine, 'start' | 'get' | 'settled'>
  loadouts: Pick<Loadouts, 'resolve'>
  events: Pick<Emitter, 'on' | 'emit'>
  preflight(plan: Plan, scope: PreflightScope): Promise<Preflight>
}

export function createWorkflows(deps: WorkflowDeps): Workflows {
  const stored = createStoredWorkflows(deps.storage, (userId, workflowId) =>
    deps.events.emit({ type: 'workflow-changed', userId, workflowId }),
  )
  const readPlan = (userId: string, definition: unknown) => checkDefinition(deps, userId, definition)
  const find = async (userId: string, which: WhichWorkflow): Promise<ResolvedWorkflow> => {
    // What is not saved may name toolkits that the call brings: whether they are there is seen before it runs.
    if ('definition' in which) return { plan: planOf(which.definition), workflowVersionId: undefined }
    const view = await ('workflowId' in which
      ? stored.get(userId, which.workflowId)
      : stored.byVersion(userId, which.workflowVersionId))
    const { id, version, workflowVersionId } = view
    return { plan: planOf(view.definition), workflowVersionId, workflow: { id, version } }
  }
  const start: Workflows['start'] = async (userId, options) =>
    startWorkflow(deps, { userId, which: options, find: () => find(userId, options) }, options)
  return {
    list: stored.list,
    get: stored.get,
    versions: stored.versions,
    delete: stored.delete,
    create: async (userId, definition) => stored.create(userId, (await readPlan(userId, definition)).definition),
    update: async (userId, workflow, definition) => {
      // Whose it is comes first: what is wrong with it is told to its owner alone.
      await stored.get(userId, typeof workflow === 'string' ? workflow : workflow.id)
      return stored.update(userId, workflow, (await readPlan(userId, definition)).definition)
    },
    validate: (userId, definition) =>
      readPlan(userId, definition).then(
        () => undefined,
        (error: unknown) => HostError.from(error),
      ),
    async check(userId, which, { threadId, mcpServers } = {}) {
      const { plan } = await find(userId, which)
      const { toolkits, errors } = readInlineToolkits({ principal: { kind: 'session', userId }, mcpServers })
      if (errors.length > 0) throw invalidFields(errors)
      const { brings, offered } = await previewInlineToolkits(deps, userId, toolkits)
      const loadout = await deps.loadouts.resolve({ userId, threadId }, { asIs: true, inlineToolkits: offered })
      return deps.preflight(plan, { userId, threadId, loadout, expectedInline: brings })
    },
    start,
    async run(userId, options) {
      const { id } = await start(userId, options)
      return deps.engine.settled(userId, id, { signal: options.signal })
    },
    follow: (userId, runId, options = {}) => followRun(deps, { userId, runId }, options),
    rerun: (userId, runId, options) => rerunWorkflow(deps, { userId, runId }, options),
  }
}
