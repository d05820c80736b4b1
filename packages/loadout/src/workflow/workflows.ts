/** Workflow API: store, validate, check and run workflows. Validation reports all problems at once. */

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

/** Scope of the run to check. */
export type CheckScope = Pick<StartOptions, 'threadId' | 'mcpServers'>

export interface Workflows extends Pick<StoredWorkflows, 'list' | 'get' | 'versions' | 'delete'> {
  /** `conflict` if the name is taken; `invalid-input` with all problems of the definition. */
  create(userId: string, definition: unknown): Promise<WorkflowView>
  /** Creates the next version if the definition changed; `conflict` if `baseVersion` is not the latest. */
  update(userId: string, workflow: WorkflowToSave, definition: unknown): Promise<WorkflowView>
  /** Returns the problems of a definition, or undefined if it is valid. */
  validate(userId: string, definition: unknown): Promise<HostError | undefined>
  /** Preflight check: reports what would stop a run now. Calls no tool and starts no server. */
  check(userId: string, which: WhichWorkflow, scope?: CheckScope): Promise<Preflight>
  /** Starts a run, which runs the preflight check itself. `host.runs` reports its progress. */
  start(userId: string, options: WhichWorkflow & StartOptions): Promise<RunView>
  /** Starts a run and waits until it finishes or pauses. */
  run(userId: string, options: WhichWorkflow & StartOptions): Promise<RunView>
  /**
   * Streams the node states of a run from any process: first the current states, then each change, until the run
   * finishes or pauses.
   */
  follow(userId: string, runId: string, options?: FollowOptions): AsyncIterable<NodeState>
  /** Starts a new run that reuses the steps completed before a node. */
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
    // An unsaved definition may name inline toolkits; preflight checks that they exist.
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
      // Check ownership first, so that only the owner sees validation errors.
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
