/**
 * Starts runs of workflows: input and inline toolkits are validated and the snapshot is stored before any step runs.
 */

import { newCallRow, reserveKey, withIdempotencyKey } from '../calls/records/idempotency.ts'
import type { CredentialStore } from '../credentials/credential-store.ts'
import { type FieldError, HostError } from '../errors.ts'
import { compileSchema } from '../json-schema/validator.ts'
import type { Engine, ReusedStep } from '../runs/engine.ts'
import { FINISHED } from '../runs/run-rows.ts'
import { newId } from '../schema/ids.ts'
import { invalidFields, type Json, type JsonObject } from '../schema/json.ts'
import type { PrincipalInput } from '../schema/principal.ts'
import type { CallRow } from '../schema/records/call.ts'
import type { RunView } from '../schema/records/run.ts'
import type { WorkflowDefinition } from '../schema/records/workflow.ts'
import type { PolicyRuleInput } from '../schema/toolkit/policy.ts'
import type { Storage } from '../storage/storage.ts'
import type { Plan } from './definition/plan.ts'
import { planOf } from './definition/read-definition.ts'
import { readInlineToolkits } from './inline-toolkits.ts'
import { stepsBefore } from './run/reused-steps.ts'
import { type RunSnapshot, sealToolkits } from './run-snapshot.ts'
import type { RunTransports, Transports } from './run-transports.ts'

export type WhichWorkflow =
  /** The latest version. */
  { workflowId: string } | { workflowVersionId: string } | { definition: unknown }

export interface StartOptions {
  input?: Json | undefined
  /** Principal of the run. @default a session of the user */
  principal?: PrincipalInput | undefined
  threadId?: string | undefined
  /** Inline toolkits of this run, by name, in any supported format. They take precedence over stored toolkits. */
  mcpServers?: Record<string, unknown> | undefined
  /**
   * App-built transports by toolkit name; each connection calls one. They are not stored: a run that resumes in another
   * process fails with an error that says so.
   */
  transports?: Transports | undefined
  /** Policy rules of this run. They can only tighten the policy. */
  rules?: readonly PolicyRuleInput[] | undefined
  /** Idempotency key, valid for a day: the same key returns the same run. `conflict` if the request differs. */
  idempotencyKey?: string | undefined
  signal?: AbortSignal | undefined
}

export interface RerunOptions
  extends Pick<StartOptions, 'principal' | 'mcpServers' | 'transports' | 'idempotencyKey' | 'signal'> {
  /** First node that runs again, with all nodes that depend on it. */
  from: string
}

export interface StartDeps {
  storage: Storage
  engine: Pick<Engine, 'start' | 'get'>
  credentials: Pick<CredentialStore, 'seal' | 'unseal'>
  transports: Pick<RunTransports, 'set' | 'forget'>
}

/** The resolved workflow; one that is not stored has no version and no ID. */
export interface ResolvedWorkflow {
  plan: Plan
  workflowVersionId: string | undefined
  workflow?: RunSnapshot['workflow']
}

const MAX_STEPS = 100_000

/** The requested workflow and a function that resolves it. */
export interface WorkflowTarget {
  userId: string
  which: WhichWorkflow
  find(): Promise<ResolvedWorkflow>
}

export async function startWorkflow(
  deps: StartDeps,
  { userId, which, find }: WorkflowTarget,
  options: StartOptions,
): Promise<RunView> {
  const { input, mcpServers = {}, transports, rules = [], threadId, signal } = options
  const { workflowId, workflowVersionId: version, definition: inlineDefinition } = which as Record<string, unknown>
  const request = [workflowId, version, inlineDefinition, input ?? {}, mcpServers, rules, Object.keys(transports ?? {})]
  return startOnce(deps, { userId, threadId, idempotencyKey: options.idempotencyKey, request }, async () => {
    const { plan, workflow, workflowVersionId } = await find()
    const { definition } = plan
    const principal = options.principal ?? { kind: 'session', userId }
    const inputWithDefaults = withDefaults(definition, input ?? {})
    refuse([
      ...inputProblems(definition, inputWithDefaults),
      ...readInlineToolkits({ principal, mcpServers, rules }).errors,
    ])
    const snapshot: RunSnapshot = {
      definition,
      input: inputWithDefaults,
      principal,
      ...(workflow ? { workflow } : {}),
      ...(rules.length > 0 ? { rules } : {}),
    }
    return { snapshot, mcpServers, transports, threadId, workflowVersionId, signal }
  })
}

interface IdempotentStart extends Pick<RunKey, 'userId' | 'threadId'> {
  idempotencyKey: string | undefined
  request: unknown
}

/** Starts the run, or returns the run of the same idempotency key. An invalid request reserves no key. */
async function startOnce(
  deps: StartDeps,
  { request, ...about }: IdempotentStart,
  prepare: () => Promise<PreparedRun>,
): Promise<RunView> {
  const { userId, idempotencyKey } = about
  if (idempotencyKey === undefined) return startPrepared(deps, userId, await prepare())
  const key = { ...about, idempotencyKey }
  const get = (runId: string) => deps.engine.get(userId, runId).catch(unless('not-found'))
  const claimedRunId = await claimedRun(deps.storage, key, request)
  const existingRun = claimedRunId === undefined ? undefined : await get(claimedRunId)
  if (existingRun) return existingRun
  const prepared = await prepare()
  const runId = await claimRun(deps.storage, key, request)
  // Two requests with one key race: only one of them starts the run.
  return (
    (await get(runId)) ??
    startPrepared(deps, userId, { ...prepared, runId }).catch((error: unknown) => {
      unless('conflict')(error)
      return deps.engine.get(userId, runId)
    })
  )
}

const unless = (code: HostError['code']) => (error: unknown) => {
  if (!HostError.is(error) || error.code !== code) throw error
  return undefined
}

/** Starts a new run that reuses the steps completed before a node. Inline toolkits of the first run are not kept. */
export async function rerunWorkflow(
  deps: StartDeps,
  { userId, runId }: { userId: string; runId: string },
  options: RerunOptions,
): Promise<RunView> {
  const { from, mcpServers = {}, transports, idempotencyKey } = options
  const request = ['rerun', runId, from, mcpServers, Object.keys(transports ?? {})]
  const once = { userId, threadId: undefined, idempotencyKey, request }
  return startOnce(deps, once, () => prepareRerun(deps, { userId, runId }, options))
}

async function prepareRerun(
  deps: StartDeps,
  { userId, runId }: { userId: string; runId: string },
  { from, principal, mcpServers, transports, signal }: RerunOptions,
): Promise<PreparedRun> {
  const { row, steps } = await deps.storage.transaction({ userId }, async (tx) => {
    const run = await tx.get('runs', runId)
    if (run?.kind !== 'workflow' || run.userId !== userId)
      throw new HostError('not-found', { detail: 'There is no such run of a workflow of yours.' })
    return { row: run, steps: await tx.list('steps', { where: { userId, runId }, limit: MAX_STEPS }) }
  })
  if (!FINISHED.has(row.status)) throw notOver(row.status)
  const snapshot = row.inputJson as unknown as RunSnapshot
  const plan = planOf(snapshot.definition)
  const inline = readInlineToolkits({ principal: principal ?? snapshot.principal, mcpServers })
  refuse([...fromProblems(plan, from), ...inline.errors])
  const about = { threadId: row.threadId ?? undefined, workflowVersionId: row.workflowVersionId ?? undefined }
  const reusedSteps = stepsBefore(plan, from, steps)
  const rerunSnapshot: RunSnapshot = { ...snapshot, taken: reusedSteps.length, ...(principal ? { principal } : {}) }
  return { snapshot: rerunSnapshot, mcpServers, transports, signal, ...about, steps: reusedSteps }
}

function fromProblems({ nodes }: Plan, from: string): FieldError[] {
  const nodeIds = [...nodes].filter(([, { parentId }]) => parentId === undefined).map(([id]) => id)
  if (nodeIds.includes(from)) return []
  return [{ path: 'from', message: `must be a node of the workflow: ${nodeIds.slice(0, 50).join(', ')}` }]
}

/** Reports all problems together, before anything is stored. */
function refuse(problems: readonly FieldError[]): void {
  if (problems.length > 0) throw invalidFields(problems)
}

/** A rerun must not repeat work that is running or whose outcome is unknown. */
const notOver = (status: string) =>
  new HostError('conflict', {
    detail: `The run is not over: it is '${status}'.`,
    action: 'Wait for it, answer what it waits for, or cancel it; then run it again.',
  })

interface PreparedRun extends Pick<StartOptions, 'mcpServers' | 'transports' | 'threadId' | 'signal'> {
  snapshot: RunSnapshot
  workflowVersionId: string | undefined
  runId?: string | undefined
  steps?: readonly ReusedStep[]
}

async function startPrepared(deps: StartDeps, userId: string, prepared: PreparedRun): Promise<RunView> {
  const { snapshot, mcpServers = {}, transports = {}, threadId, workflowVersionId, signal, steps } = prepared
  const { runId = newId('run') } = prepared
  if (snapshot.principal.userId !== userId)
    throw invalidFields([{ path: 'principal.userId', message: 'must be the user who runs it' }])
  const toolkits = await sealToolkits(deps.credentials, userId, mcpServers)
  const { toolkits: _, transports: __, ...rest } = snapshot
  const names = Object.keys(transports)
  const inline = { ...(toolkits ? { toolkits } : {}), ...(names.length > 0 ? { transports: names } : {}) }
  const input = { ...rest, ...inline } as unknown as JsonObject
  if (names.length > 0) deps.transports.set(runId, transports)
  const started = deps.engine.start({
    runId,
    userId,
    kind: 'workflow',
    threadId,
    workflowVersionId,
    input,
    signal,
    steps,
  })
  return started.catch((error: unknown) => {
    deps.transports.forget(runId)
    throw error
  })
}

/** Fills in the defaults of the input schema. */
function withDefaults({ input: schema }: WorkflowDefinition, input: Json): Json {
  const properties = (schema.properties ?? {}) as Record<string, { default?: Json }>
  const isObject = typeof input === 'object' && input !== null && !Array.isArray(input)
  return isObject ? { ...defaultsOf(properties), ...(input as JsonObject) } : input
}

function inputProblems({ input: schema }: WorkflowDefinition, input: Json): FieldError[] {
  const compiled = compileSchema(schema)
  const result = compiled.ok ? compiled.validate(input) : { valid: true as const }
  if (result.valid) return []
  return result.errors.map(({ path, message }) => ({ path: path === '(root)' ? 'input' : `input.${path}`, message }))
}

function defaultsOf(properties: Record<string, { default?: Json }>): JsonObject {
  const withDefault = Object.entries(properties).filter(
    ([, property]) => typeof property === 'object' && property !== null && 'default' in property,
  )
  return Object.fromEntries(withDefault.map(([name, property]) => [name, property.default]))
}

/** Idempotency key of a run. It shares the key space of the user's calls and stores the ID of the future run. */
export interface RunKey {
  userId: string
  threadId: string | undefined
  idempotencyKey: string
}

/** ID of the run that owns this key, started or not. */
export async function claimRun(storage: Storage, key: RunKey, runRequest: unknown): Promise<string> {
  const row = await rowOf(key, runRequest)
  const before = await reserveKey(storage, row)
  return before?.runId ?? (row.runId as string)
}

/** ID of the run that owns this key, if a request reserved it before. */
export async function claimedRun(storage: Storage, key: RunKey, runRequest: unknown): Promise<string | undefined> {
  const where = { userId: key.userId, dedupeKey: key.idempotencyKey }
  const [row] = await storage.transaction({ userId: key.userId }, (tx) => tx.list('calls', { where }))
  return row && row.expiresAt > new Date() ? claimRun(storage, key, runRequest) : undefined
}

async function rowOf({ userId, threadId, idempotencyKey }: RunKey, runRequest: unknown): Promise<CallRow> {
  const caller = { type: 'workflow' as const }
  // Hash the request, not the resolved workflow, which can change between two requests.
  const args = { asked: JSON.parse(JSON.stringify(runRequest)) as Json }
  const runId = newId('run')
  const request = { userId, threadId, runId, toolkit: 'workflow', tool: 'invoke', arguments: args, caller }
  const row = await withIdempotencyKey(newCallRow(request, { processId: '' }), idempotencyKey, request)
  // The row is complete from the start, so it never counts as an orphaned call.
  return { ...row, status: 'ok', outcomeJson: { status: 'ok', content: [] }, finishedAt: row.createdAt }
}
