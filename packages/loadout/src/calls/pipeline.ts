/**
 * The law of a call. Every tool call passes these stages from top to bottom, from whichever surface it comes; there is no
 * second path to a tool. A stage does its part and calls the next one, or answers itself.
 */
import type { CallAudit } from '../audit/call-audit.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { MaskValue } from '../connections/mask-values.ts'
import type { Loadouts } from '../loadout/loadouts.ts'
import type { LoadedTools } from '../search/loaded-tools.ts'
import type { ToolUsage } from '../search/usage/tool-usage.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import type { AppConfigStore } from '../toolkits/app-config.ts'
import type { Registry } from '../toolkits/registry.ts'
import { approvedInAdvance } from './approval-request.ts'
import { type BuiltInDeps, withBuiltInTools } from './built-in/built-in-tools.ts'
import type { CallHandler, ResolvedCall, ToolCall } from './call.ts'
import {
  assertStage,
  beforeHooksStage,
  type CallHooks,
  type CallStage,
  isPreviewed,
  withAfterHooks,
  wrapStage,
} from './custom-stages.ts'
import { type ExecuteDeps, executeCall } from './execute.ts'
import type { Results } from './results/results.ts'
import { resolveTool, withResolved } from './stages/resolve.ts'
import { type DecisionDeps, withDecision } from './stages/with-decision.ts'
import { withIntent } from './stages/with-intent.ts'
import { withLearning } from './stages/with-learning.ts'
import { type LimitDeps, withLimits } from './stages/with-limits.ts'
import { withLoadout } from './stages/with-loadout.ts'
import { withMaskedResults } from './stages/with-masked-results.ts'
import { withOutcome } from './stages/with-outcome.ts'
import { withOutput } from './stages/with-output.ts'
import { withPin } from './stages/with-pin.ts'
import { withResults } from './stages/with-results.ts'
import { withTelemetry } from './stages/with-telemetry.ts'
import { createArgumentCheck, withValidation } from './stages/with-validation.ts'

/**
 * - `call`: a call from its beginning.
 * - `restart`: a call that a person allowed; everything may have changed while it waited.
 * - `preview`: what would be decided about a call. It ends at the decision and calls nothing.
 * - `built-in`: a tool of the host itself. It reaches only data of its own user, so no pin, loadout or policy applies.
 * - `program`: `run_code`, a built-in tool whose result may be large.
 */
export type CallPath = 'call' | 'restart' | 'preview' | 'built-in' | 'program'

export interface PipelineDeps {
  telemetry: Telemetry
  audit: CallAudit
  usage: ToolUsage
  loaded: LoadedTools
  builtIn: Omit<BuiltInDeps, 'path'>
  registry: Registry
  catalog: Catalog
  loadouts: Loadouts
  decision: DecisionDeps
  limits: LimitDeps
  results: Results
  app: AppConfigStore
  mask: MaskValue
  execute: ExecuteDeps
  /** Receives errors of the app's hooks that cannot change an outcome. */
  onHookError(error: unknown): void
}

export interface CallPipeline {
  /** Runs a call from its beginning. */
  call: CallHandler
  /** Finds out what would be decided about a call, without calling anything. */
  preview: CallHandler
  /** Adds a stage of the app at a named position, for calls that begin later. Returns a function that removes it. */
  use(stage: CallStage): () => void
  /** Adds hooks of the app. Returns a function that removes them. */
  onCall(hooks: CallHooks): () => void
}

export function createPipeline(deps: PipelineDeps): CallPipeline {
  const { audit, results, app } = deps
  const builtIn: BuiltInDeps = { ...deps.builtIn, path: (name, answer) => path(name, answer) }
  const hooks = new Set<CallHooks>()
  const stages = [
    stage('hooks', ['call'], withAfterHooks(hooks, deps.onHookError)),
    stage('telemetry', ['call'], withTelemetry(deps.telemetry)),
    stage('outcome', ['call'], withOutcome(audit)),
    stage('learning', ['call'], withLearning({ usage: deps.usage, audit, loaded: deps.loaded })),
    stage('built-in', ['call', 'restart'], withBuiltInTools(builtIn)),
    stage('resolve', ['call', 'restart', 'preview'], resolveTool(deps)),
    stage('resolved', ['call', 'restart', 'preview', 'built-in', 'program'], withResolved),
    stage('pin', ['call', 'restart', 'preview'], withPin),
    stage('loadout', ['call', 'restart', 'preview'], withLoadout(deps.loadouts)),
    stage('validation', ['call', 'restart', 'preview'], withValidation(createArgumentCheck())),
    stage('decision', ['call', 'restart', 'preview'], withDecision(deps.decision)),
    stage('limits', ['call', 'restart', 'built-in', 'program'], withLimits(deps.limits)),
    stage('results', ['call', 'restart', 'program'], withResults({ results, app })),
    stage('mask', ['call', 'restart'], withMaskedResults(deps.mask)),
    stage('output', ['call', 'restart'], withOutput()),
    stage('intent', ['call', 'restart', 'built-in', 'program'], withIntent(audit)),
  ]
  const custom: CallStage[] = []
  const path = (name: CallPath, last: CallHandler<ResolvedCall>): CallHandler => {
    const restart: CallHandler = (call) => (name === 'preview' ? paths.preview : paths.restarted)(call)
    return withCustom(stages, custom, name)
      .filter((one) => one.paths.includes(name))
      .reduceRight<CallHandler>((next, { wrap }) => wrap(next, restart), last as CallHandler)
  }
  const execute = executeCall(deps.execute)
  const compose = () => ({
    call: path('call', execute),
    restarted: path('restart', execute),
    preview: path('preview', approvedInAdvance),
  })
  let paths = compose()
  const add = (added: CallStage) => {
    assertStage(added, custom)
    custom.push(added)
    paths = compose()
    return () => {
      const at = custom.indexOf(added)
      if (at >= 0) custom.splice(at, 1)
      paths = compose()
    }
  }
  const beforeHooks = beforeHooksStage(hooks)
  return {
    call: (call) => paths.call(call),
    preview: (call) => paths.preview(call),
    use: add,
    onCall(added) {
      // Calls without hooks do not copy their arguments for them.
      if (added.before && !custom.includes(beforeHooks)) add(beforeHooks)
      hooks.add(added)
      return () => void hooks.delete(added)
    },
  }
}

/** Stages of the app beside the stages they name. They see calls of tools, not the host's own tools. */
function withCustom(stages: readonly PipelineStage[], custom: readonly CallStage[], path: CallPath): PipelineStage[] {
  const isPreview = path === 'preview'
  const wrapped = (one: CallStage): PipelineStage => {
    const paths: CallPath[] = isPreviewed(one) ? ['call', 'restart', 'preview'] : ['call', 'restart']
    return stage(one.name, paths, wrapStage(one, { isPreview, isRestart: path === 'restart' }))
  }
  return stages.flatMap((one) => [
    ...custom.filter(({ before }) => before === one.name).map(wrapped),
    one,
    ...custom.filter(({ after }) => after === one.name).map(wrapped),
  ])
}

interface PipelineStage {
  name: string
  paths: readonly CallPath[]
  wrap(next: CallHandler, restart: CallHandler): CallHandler
}

/** Stages below `resolve` get a `ResolvedCall`, which `resolve` makes: the order of the list makes this cast safe. */
function stage<In extends ToolCall, Out extends ToolCall>(
  name: string,
  paths: readonly CallPath[],
  wrap: (next: CallHandler<Out>, restart: CallHandler) => CallHandler<In>,
): PipelineStage {
  return { name, paths, wrap: wrap as unknown as PipelineStage['wrap'] }
}
