/** One user's view of a host. The user is bound once, so that no call can name another one by mistake. */
import type { Context } from '@opentelemetry/api'
import type { CallOutcome, Input } from '../calls/call.ts'
import type { RunningCall } from '../calls/calls.ts'
import type { CallRecord, WaitOptions } from '../calls/records/call-records.ts'
import type { ReadResult, ResultPart } from '../calls/results/results.ts'
import type { FilledTemplate, PartialArgument, Skills } from '../catalog/resources.ts'
import type { Completion, ElicitationResult, ServerLogEntry } from '../connections/connection.ts'
import { HostError } from '../errors.ts'
import type { Loadout } from '../loadout/overlay.ts'
import type { ImportedTokens } from '../oauth/flow/imported-tokens.ts'
import type { Callback, SignInLink } from '../oauth/service.ts'
import type { ApprovalFilter } from '../policy/approvals/approvals.ts'
import type { ToolDecision } from '../policy/decisions.ts'
import type { Grant } from '../policy/grants.ts'
import type { Usage } from '../policy/limits/usage.ts'
import { userId as userIdSchema } from '../schema/ids.ts'
import { type Json, type JsonObject, parse } from '../schema/json.ts'
import type { ApprovalView } from '../schema/records/approval.ts'
import type { ExportedConfig, ImportOptions, ImportReport } from '../schema/records/import-report.ts'
import type { MessageView } from '../schema/records/message.ts'
import type { Preferences } from '../schema/records/preferences.ts'
import type { RunView } from '../schema/records/run.ts'
import type { WorkflowInput, WorkflowView } from '../schema/records/workflow.ts'
import type { PolicyRule, PolicyRuleInput } from '../schema/toolkit/policy.ts'
import type { SignInView } from '../schema/toolkit/sign-in.ts'
import { type Caller, parseToolRef } from '../schema/toolkit/tool.ts'
import type { ToolArguments, ToolInput, ToolOutput, ToolRef } from '../schema/toolkit/tool-types.ts'
import type { ToolkitView } from '../schema/toolkit/toolkit.ts'
import type { Strategy } from '../search/search.ts'
import type { SearchInput } from '../search/searcher.ts'
import type { ToolHit } from '../search/tool-search.ts'
import type { Thread, ThreadOptions } from '../thread.ts'
import type { NewMessage } from '../threads/messages.ts'
import type { StoredThread } from '../threads/threads.ts'
import { type ExportOptions, exportToolkits } from '../toolkits/export-toolkits.ts'
import type { Registered, RegisterOptions, ToolkitOwner } from '../toolkits/registry.ts'
import type { ToolkitInput } from '../toolkits/toolkit-input.ts'
import type { Preflight } from '../workflow/preflight/preflight.ts'
import type { RerunOptions, StartOptions } from '../workflow/start-workflow.ts'
import type { FollowOptions } from '../workflow/watch/follow-run.ts'
import type { NodeState } from '../workflow/watch/node-states.ts'
import type { CheckScope } from '../workflow/workflows.ts'
import type { HostServices } from './create-services.ts'

export interface CallOptions {
  threadId?: string
  /** The form in which the tool is used. @default { type: 'direct' } */
  caller?: Caller
  signal?: AbortSignal
  /** The prompt that led to the call. A successful call becomes a search example for this user. */
  prompt?: string
  /** Rules of this call. They only tighten. */
  rules?: readonly PolicyRuleInput[]
  onProgress?: (progress: { progress: number; total?: number; message?: string }) => void
  /** Receives log entries of the server, redacted, if the server is the user's own. */
  onLog?: (entry: ServerLogEntry) => void
  /** The trace that the call belongs to. @default the active one */
  trace?: Context
  /** The same key makes the call once, for a day. */
  idempotencyKey?: string
  /** Whether to return as soon as the call is stored; `calls.wait` has its outcome. @default false */
  background?: boolean
}

/**
 * A call that is running. Awaiting it gives the outcome, which is a value also where the call was refused or failed.
 *
 * @example
 * const call = ann.call('shop.refund', { order: 7 })
 * const approval = await call.approval // resolves if a person must answer first
 * await ann.approvals.allow(approval.id)
 * const outcome = await call
 */
export interface UserCall<Output = unknown> extends Promise<CallOutcome<Output>> {
  readonly callId: string
  /** The approval request, if the call needs one. It never resolves otherwise. */
  readonly approval: Promise<ApprovalView>
  /** The input that the server asks for, if it does. It never resolves otherwise. */
  readonly input: Promise<Input>
}

export interface UserCalls {
  /**
   * Gets a stored call.
   * @example const { status } = await ann.calls.get(callId)
   */
  get(callId: string): Promise<CallRecord>
  /**
   * Waits until a stored call is over or needs a person.
   * @example const { outcome } = await ann.calls.wait(callId)
   */
  wait(callId: string, options?: WaitOptions): Promise<CallRecord>
  /**
   * Cancels a stored call, in whichever process it runs.
   * @example await ann.calls.cancel(callId)
   */
  cancel(callId: string): Promise<void>
  /**
   * Lists what servers ask the user right now.
   * @example const [question] = ann.calls.inputs()
   */
  inputs(): Input[]
  /**
   * Answers a server's question.
   * @example ann.calls.answerInput(question.id, { action: 'accept', content: { name: 'Ann' } })
   */
  answerInput(id: string, answer: ElicitationResult): void
}

export interface UserApprovals {
  /**
   * Lists approval requests, the newest first.
   * @example const open = await ann.approvals.list({ status: 'pending' })
   */
  list(filter?: ApprovalFilter): Promise<ApprovalView[]>
  /**
   * Gets one approval request.
   * @example const { ref, arguments: args } = await ann.approvals.get(id)
   */
  get(id: string): Promise<ApprovalView>
  /**
   * Allows a call. `remember` saves the permission, `arguments` replaces what is sent.
   * @example await ann.approvals.allow(id, { remember: 'tool' })
   */
  allow(
    id: string,
    options?: { remember?: 'thread' | 'tool' | 'toolkit'; arguments?: JsonObject },
  ): Promise<ApprovalView>
  /**
   * Denies a call.
   * @example await ann.approvals.deny(id)
   */
  deny(id: string, options?: { remember?: 'thread' | 'tool' | 'toolkit' }): Promise<ApprovalView>
}

export interface UserGrants {
  /**
   * Lists saved permissions.
   * @example const permissions = await ann.grants.list()
   */
  list(): Promise<Grant[]>
  /**
   * Saves a permission for a tool.
   * @example await ann.grants.add('github.create_issue', 'allow')
   */
  add(ref: string, decision: Grant['decision']): Promise<Grant>
  /**
   * Deletes a saved permission.
   * @example await ann.grants.revoke(id)
   */
  revoke(id: string): Promise<void>
}

/** Policy rules of one tier. */
export interface TierRules {
  /**
   * Lists the rules in the order in which they are tried.
   * @example const rules = await ann.rules.list()
   */
  list(): Promise<PolicyRule[]>
  /**
   * Replaces the rules.
   * @example await ann.rules.set([rule('shop.*', 'ask')])
   */
  set(rules: readonly PolicyRuleInput[]): Promise<PolicyRule[]>
}

export interface UserToolkits {
  /**
   * Adds a toolkit for this user. The same id updates it.
   * @example await ann.toolkits.add({ name: 'files', command: 'npx', args: ['-y', 'some-server'] })
   */
  add(toolkit: ToolkitInput, options?: RegisterOptions): Promise<Registered>
  /**
   * Changes fields of a toolkit.
   * @example await ann.toolkits.update('files', { enabled: false })
   */
  update(id: string, changes: Record<string, unknown>): Promise<Registered>
  /**
   * Removes a toolkit with its credentials and connections.
   * @example await ann.toolkits.remove('files')
   */
  remove(id: string): Promise<void>
  /**
   * Lists the user's and the app's toolkits with state and tools.
   * @example for (const { id, state } of await ann.toolkits.list()) console.log(id, state.status)
   */
  list(): Promise<ToolkitView[]>
  /**
   * Gets one toolkit with state and tools.
   * @example const { tools } = await ann.toolkits.get('files')
   */
  get(id: string): Promise<ToolkitView>
  /**
   * Turns a toolkit on for this user.
   * @example await ann.toolkits.enable('files')
   */
  enable(id: string): Promise<void>
  /**
   * Turns a toolkit off for this user, also one of the app.
   * @example await ann.toolkits.disable('files')
   */
  disable(id: string): Promise<void>
  /**
   * Discovers the tools of a server again.
   * @example await ann.toolkits.refresh('files')
   */
  refresh(id: string): Promise<ToolkitView>
  /**
   * Accepts changed or new tools of a server: one, or all.
   * @example await ann.toolkits.accept('files', 'write_file')
   */
  accept(id: string, tool?: string): Promise<number>
  /**
   * Reports what would be decided about the tools of a toolkit.
   * @example const decisions = await ann.toolkits.decisions('files')
   */
  decisions(id: string): Promise<ToolDecision[]>
  /**
   * Imports a config of another app: an object, or a text in JSON, TOML or YAML, a URL or a command line.
   * @example const { entries } = await ann.toolkits.import({ mcpServers })
   */
  import(source: unknown, options?: ImportOptions & { dryRun?: boolean }): Promise<ImportReport>
  /**
   * Exports the user's own toolkits as a config that other apps read. Secrets become placeholders.
   * @example const { mcpServers } = await ann.toolkits.export()
   */
  export(options?: ExportOptions): Promise<ExportedConfig>
  /**
   * Starts a sign-in to a server. The user opens the link.
   * @example const { url } = await ann.toolkits.signIn('github')
   */
  signIn(id: string): Promise<SignInLink>
  /**
   * Completes a sign-in with the parameters of the callback URL.
   * @example await ann.toolkits.finishSignIn({ state, code })
   */
  finishSignIn(callback: Callback): Promise<{ toolkit: string }>
  /**
   * Stores tokens that the app already has.
   * @example await ann.toolkits.importTokens('github', { accessToken })
   */
  importTokens(id: string, tokens: ImportedTokens): Promise<void>
  /**
   * Gets the sign-in state of a server.
   * @example const state = await ann.toolkits.signInState('github')
   */
  signInState(id: string): Promise<SignInView | undefined>
  /**
   * Signs out, and revokes the tokens where the server allows it.
   * @example await ann.toolkits.signOut('github')
   */
  signOut(id: string): Promise<{ revoked: boolean }>
  readonly resources: UserResources
  readonly prompts: UserPrompts
  readonly skills: UserSkills
}

export interface UserResources {
  /** @example const resources = await ann.toolkits.resources.list('files') */
  list(toolkit: string): Promise<JsonObject[]>
  /** @example const templates = await ann.toolkits.resources.templates('files') */
  templates(toolkit: string): Promise<JsonObject[]>
  /** @example const { contents } = await ann.toolkits.resources.read('files', 'file:///notes.md') */
  read(toolkit: string, resource: string | FilledTemplate): Promise<JsonObject>
  /** @example await ann.toolkits.resources.complete('files', { uriTemplate, argument: { name: 'path', value: 'no' } }) */
  complete(toolkit: string, partial: PartialArgument & { uriTemplate: string }): Promise<Completion>
}

export interface UserPrompts {
  /** @example const prompts = await ann.toolkits.prompts.list('github') */
  list(toolkit: string): Promise<JsonObject[]>
  /** @example const { messages } = await ann.toolkits.prompts.get('github', { name: 'review', arguments: { pr: '7' } }) */
  get(toolkit: string, prompt: { name: string; arguments: Record<string, string> }): Promise<JsonObject>
  /** @example await ann.toolkits.prompts.complete('github', { name: 'review', argument: { name: 'pr', value: '7' } }) */
  complete(toolkit: string, partial: PartialArgument & { name: string }): Promise<Completion>
}

export interface UserSkills {
  /** @example const skills = await ann.toolkits.skills.list('docs') */
  list(toolkit: string): Promise<JsonObject[]>
  /** @example const skill = await ann.toolkits.skills.read('docs', { skill: 'writing' }) */
  read(toolkit: string, address: Parameters<Skills['read']>[2]): Promise<JsonObject>
}

/** One thread of a user. It need not exist: the first change creates it. */
export interface UserThread extends Thread {
  readonly rules: TierRules
  readonly messages: {
    /** @example await thread.messages.add({ role: 'user', parts: [{ type: 'text', text: 'Hello' }] }) */
    add(message: NewMessage): Promise<MessageView>
    /** @example const messages = await thread.messages.list() */
    list(page?: { after?: string; limit?: number }): Promise<MessageView[]>
    /** @example await thread.messages.clear() */
    clear(): Promise<void>
  }
}

export interface UserThreads {
  /** @example const { id } = await ann.threads.create({ title: 'Release' }) */
  create(input?: { id?: string; title?: string }): Promise<StoredThread>
  /** @example const { title } = await ann.threads.get(id) */
  get(id: string): Promise<StoredThread>
  /** @example const threads = await ann.threads.list({ limit: 20 }) */
  list(page?: { after?: string; limit?: number }): Promise<StoredThread[]>
  /** @example await ann.threads.update(id, { title: 'Release 2' }) */
  update(id: string, changes: Record<string, unknown>): Promise<StoredThread>
  /** @example await ann.threads.delete(id) */
  delete(id: string): Promise<void>
}

export interface UserWorkflows {
  /** @example const { id } = await ann.workflows.create(defineWorkflow({ name: 'Report', nodes: [] })) */
  create(definition: WorkflowInput): Promise<WorkflowView>
  /** @example await ann.workflows.update(id, definition) */
  update(id: string, definition: WorkflowInput): Promise<WorkflowView>
  /** @example const workflows = await ann.workflows.list() */
  list(): Promise<WorkflowView[]>
  /** @example const workflow = await ann.workflows.get(id) */
  get(id: string): Promise<WorkflowView>
  /** @example await ann.workflows.delete(id) */
  delete(id: string): Promise<void>
  /**
   * Reports what would stop a run, before it starts.
   * @example const { ok, problems } = await ann.workflows.check(id)
   */
  check(workflow: string | WorkflowInput, scope?: CheckScope): Promise<Preflight>
  /**
   * Runs a workflow, or a definition that is not stored, until it is over or needs a person.
   * @example const run = await ann.workflows.run(id, { month: 'May' })
   */
  run(workflow: string | WorkflowInput, input?: Json, options?: Omit<StartOptions, 'input'>): Promise<RunView>
  /**
   * Starts a run and returns at once.
   * @example const { id: runId } = await ann.workflows.start(id, { month: 'May' })
   */
  start(workflow: string | WorkflowInput, input?: Json, options?: Omit<StartOptions, 'input'>): Promise<RunView>
  /**
   * Runs again from one node; results before it are reused.
   * @example const run = await ann.workflows.rerun(runId, { from: 'send' })
   */
  rerun(runId: string, options: RerunOptions): Promise<RunView>
  /**
   * Follows the nodes of a run until it is over or needs a person.
   * @example for await (const { node, status } of ann.workflows.follow(runId)) console.log(node, status)
   */
  follow(runId: string, options?: FollowOptions): AsyncIterable<NodeState>
}

export interface UserRuns {
  /** @example const { status } = await ann.runs.get(id) */
  get(id: string): Promise<RunView>
  /** @example const runs = await ann.runs.list({ limit: 20 }) */
  list(page?: { cursor?: string; limit?: number; threadId?: string; workflowId?: string }): Promise<RunView[]>
  /**
   * Waits until a run is over or needs a person.
   * @example const { output } = await ann.runs.wait(id)
   */
  wait(id: string, options?: { signal?: AbortSignal }): Promise<RunView>
  /** @example await ann.runs.cancel(id) */
  cancel(id: string): Promise<RunView>
  /**
   * Decides how a run continues after a step whose outcome is unknown.
   * @example await ann.runs.resolve(id, { stepId, decision: 'repeat' })
   */
  resolve(id: string, answer: { stepId: string; decision: 'repeat' | 'fail' }): Promise<RunView>
}

export interface UserScope {
  readonly id: string
  readonly toolkits: UserToolkits
  /**
   * Calls a tool through the pipeline: policy, approval, limits, audit.
   * @example const outcome = await ann.call('files.read_file', { path: 'notes.md' })
   */
  call<R extends string>(
    ref: ToolRef<R>,
    ...rest: ToolArguments<R, CallOptions & { background?: false }>
  ): UserCall<ToolOutput<R>>
  /** @example const { callId } = await ann.call('report.build', {}, { background: true, idempotencyKey: 'may' }) */
  call<R extends string>(
    ref: ToolRef<R>,
    args: ToolInput<R>,
    options: CallOptions & { background: true },
  ): Promise<{ callId: string }>
  readonly calls: UserCalls
  readonly approvals: UserApprovals
  readonly grants: UserGrants
  readonly rules: TierRules
  /**
   * Resolves the user's loadout outside of a thread.
   * @example const { tools } = await ann.loadout()
   */
  loadout(): Promise<Loadout>
  /** @example const selection = await ann.thread('t1').select({ prompt: 'Close issue 7' }) */
  thread(id: string, options?: ThreadOptions): UserThread
  readonly threads: UserThreads
  readonly workflows: UserWorkflows
  readonly runs: UserRuns
  readonly results: {
    /** @example const page = await ann.results.read(handle, { fromLine: 100, lines: 50 }) */
    read(handle: string, part?: ResultPart): Promise<ReadResult>
  }
  /**
   * Searches the tools of the user, or of one thread.
   * @example const { tools } = await ann.search('create an issue', { limit: 5 })
   */
  search(
    text: string,
    options?: SearchInput & { threadId?: string },
  ): Promise<{ tools: ToolHit[]; strategy: Strategy; warnings: readonly string[] }>
  readonly preferences: {
    /** @example const { theme } = await ann.preferences.get() */
    get(): Promise<Preferences>
    /** @example await ann.preferences.update({ theme: 'dark' }) */
    update(changes: Record<string, unknown>): Promise<Preferences>
  }
  /** @example const { callsThisHour } = await ann.usage() */
  usage(): Promise<Usage>
  /**
   * Deletes everything that is stored of the user, and ends what runs for them.
   * @example await ann.delete()
   */
  delete(): Promise<{ rows: number; lines: number }>
}

export function createUserScope(services: HostServices, id: string): UserScope {
  const userId = parse(userIdSchema, id)
  return {
    id: userId,
    toolkits: createUserToolkits(services, userId),
    call: createUserCall(services, userId),
    calls: {
      get: (callId) => services.records.get(userId, callId),
      wait: (callId, options) => services.records.settled(userId, callId, options),
      cancel: (callId) => services.records.cancel(userId, callId),
      inputs: () => services.inputs.list(userId),
      answerInput: (inputId, answer) => services.inputs.answer(userId, inputId, answer),
    },
    approvals: {
      list: (filter) => services.approvals.list(userId, filter),
      get: (approvalId) => services.approvals.get(userId, approvalId),
      allow: (approvalId, options = {}) =>
        services.approvals.answer(userId, approvalId, { decision: 'allow', ...options }),
      deny: (approvalId, options = {}) =>
        services.approvals.answer(userId, approvalId, { decision: 'deny', ...options }),
    },
    grants: {
      list: () => services.grants.list(userId),
      add: (ref, decision) => services.decisions.remember(userId, ref, decision),
      revoke: (grantId) => services.grants.revoke(userId, grantId),
    },
    rules: tierRules(services, { userId }),
    loadout: () => services.loadouts.resolve({ userId }),
    thread: (threadId, options) => ({
      ...services.thread({ userId, threadId }, options),
      rules: tierRules(services, { userId, threadId }),
      messages: {
        add: (message) => services.messages.add(userId, threadId, message),
        list: (page) => services.messages.list(userId, threadId, page),
        clear: () => services.messages.clear(userId, threadId),
      },
    }),
    threads: {
      create: (input) => services.threads.create(userId, input),
      get: (threadId) => services.threads.get(userId, threadId),
      list: (page) => services.threads.list(userId, page),
      update: (threadId, changes) => services.threads.update(userId, threadId, changes),
      delete: (threadId) => services.threads.delete(userId, threadId),
    },
    workflows: createUserWorkflows(services, userId),
    runs: {
      get: (runId) => services.runs.get(userId, runId),
      list: (page) => services.runs.list(userId, page),
      wait: (runId, options) => services.runs.settled(userId, runId, options),
      cancel: (runId) => services.runs.cancel(userId, runId),
      resolve: (runId, answer) => services.runs.resolve(userId, runId, answer),
    },
    results: { read: (handle, part) => services.results.read(userId, handle, part) },
    search: (text, { threadId, ...options } = {}) => services.search({ userId, threadId }, text, options),
    preferences: {
      get: () => services.preferences.get(userId),
      update: (changes) => services.preferences.update(userId, changes),
    },
    usage: () => services.usage(userId),
    delete: () => services.users.remove(userId),
  }
}

export function tierRules(
  { rules }: Pick<HostServices, 'rules'>,
  scope: { userId?: string; threadId?: string },
): TierRules {
  return { list: () => rules.list(scope), set: (list) => rules.set(scope, list) }
}

function createUserCall(services: HostServices, userId: string): UserScope['call'] {
  const start = (ref: string, args: JsonObject = {}, options: CallOptions = {}) => {
    const { idempotencyKey, background, caller = { type: 'direct' }, ...rest } = options
    const { toolkit, tool } = addressOf(ref)
    const request = { ...rest, userId, toolkit, tool, caller, arguments: args }
    if (background) return services.records.start(request, { idempotencyKey }).then(({ callId }) => ({ callId }))
    if (idempotencyKey === undefined) return userCall(services.calls.start(request))
    return services.records.start(request, { idempotencyKey }).then(async (record) => {
      if ('running' in record) return record.running.outcome
      const { outcome } = await services.records.settled(userId, record.callId, { untilOver: true })
      return outcome ?? { status: 'failed' as const, error: new HostError('outcome-unknown') }
    })
  }
  return start as UserScope['call']
}

function userCall({ callId, outcome, pending, inputRequested }: RunningCall): UserCall {
  return Object.assign(outcome, { callId, approval: pending, input: inputRequested })
}

function addressOf(ref: string) {
  const address = parseToolRef(ref)
  if (address) return address
  throw new HostError('invalid-input', {
    detail: `The tool ref \`${String(ref).slice(0, 100)}\` is not valid.`,
    action: 'Write it as "toolkit.tool", for example "files.read_file".',
    errors: [{ path: 'ref', message: 'must be "toolkit.tool"' }],
  })
}

function createUserToolkits(services: HostServices, userId: string): UserToolkits {
  const owner: ToolkitOwner = { tier: 'user', userId }
  const { toolkits, views, imports, catalog, signIns, resources, prompts, skills } = services
  return {
    add: (toolkit, options) => toolkits.register(toolkit, owner, options),
    update: (id, changes) => toolkits.update(id, changes, owner),
    remove: (id) => toolkits.remove(id, owner),
    list: () => views.list(userId),
    get: (id) => views.one(userId, id),
    enable: (id) => toolkits.setEnabled(userId, id, true),
    disable: (id) => toolkits.setEnabled(userId, id, false),
    async refresh(id) {
      await catalog.introspect(await toolkits.find(userId, id), userId)
      return views.one(userId, id)
    },
    accept: async (id, tool) => catalog.accept(await toolkits.find(userId, id), { userId, tool }),
    decisions: (id) => services.decisions.list(userId, id),
    import: (source, { dryRun = false, ...options } = {}) =>
      dryRun ? imports.preview(source, owner, options) : imports.apply(source, owner, options),
    async export(options) {
      const own = (await toolkits.list(userId)).filter(({ tier }) => tier === 'user')
      return exportToolkits(own, options)
    },
    signIn: (id) => signIns.start(userId, id),
    finishSignIn: (callback) => signIns.finish(callback, { userId }),
    importTokens: (id, tokens) => signIns.give(userId, id, tokens),
    signInState: (id) => signIns.view(userId, id),
    signOut: (id) => signIns.disconnect(userId, id),
    resources: {
      list: (toolkit) => resources.list(userId, toolkit),
      templates: (toolkit) => resources.templates(userId, toolkit),
      read: (toolkit, resource) =>
        typeof resource === 'string'
          ? resources.read(userId, toolkit, resource)
          : resources.readTemplate(userId, toolkit, resource),
      complete: (toolkit, partial) => resources.complete(userId, toolkit, partial),
    },
    prompts: {
      list: (toolkit) => prompts.list(userId, toolkit),
      get: (toolkit, prompt) => prompts.get(userId, toolkit, prompt),
      complete: (toolkit, partial) => prompts.complete(userId, toolkit, partial),
    },
    skills: {
      list: (toolkit) => skills.list(userId, toolkit),
      read: (toolkit, address) => skills.read(userId, toolkit, address),
    },
  }
}

function createUserWorkflows({ workflows }: HostServices, userId: string): UserWorkflows {
  const which = (workflow: string | WorkflowInput) =>
    typeof workflow === 'string' ? { workflowId: workflow } : { definition: workflow }
  return {
    create: (definition) => workflows.create(userId, definition),
    update: (id, definition) => workflows.update(userId, id, definition),
    list: () => workflows.list(userId),
    get: (id) => workflows.get(userId, id),
    delete: (id) => workflows.delete(userId, id),
    check: (workflow, scope) => workflows.check(userId, which(workflow), scope),
    run: (workflow, input, options) => workflows.run(userId, { ...options, ...which(workflow), input }),
    start: (workflow, input, options) => workflows.start(userId, { ...options, ...which(workflow), input }),
    rerun: (runId, options) => workflows.rerun(userId, runId, options),
    follow: (runId, options) => workflows.follow(userId, runId, options),
  }
}
