/** One thread of one user: its loadout, selections for prompts, and calls within it. */

import type { ApprovalRequests } from './calls/approval-request.ts'
import { ownEntries, withReadResult } from './calls/built-in/built-in-tools.ts'
import type { CallOutcome } from './calls/call.ts'
import type { NamedCall } from './calls/call-by-name.ts'
import type { Calls } from './calls/calls.ts'
import type { ProviderPrograms } from './calls/provider-programs.ts'
import type { Results } from './calls/results/results.ts'
import { createSelection, type Selection } from './calls/selection.ts'
import { withRules } from './calls/stages/with-context.ts'
import { HostError } from './errors.ts'
import type { Emitter } from './events.ts'
import type { HostRuns, RunOptions } from './host/wire-runs.ts'
import type { Activations } from './loadout/activations.ts'
import { assertRefs } from './loadout/check-refs.ts'
import type { ActivationRule } from './loadout/layers.ts'
import { capWarnings } from './loadout/limit-warnings.ts'
import type { LoadoutOptions, Loadouts } from './loadout/loadouts.ts'
import type { Narrowing } from './loadout/narrow.ts'
import type { Loadout } from './loadout/overlay.ts'
import { threadId as threadIdSchema, userId as userIdSchema } from './schema/ids.ts'
import { jsonObject, parse } from './schema/json.ts'
import type { ProgramInput } from './schema/records/program.ts'
import type { RunView } from './schema/records/run.ts'
import type { Tier } from './schema/scope.ts'
import { EXCLUSIVE } from './schema/toolkit/activation.ts'
import type { LoadoutEntry, Reason } from './schema/toolkit/loadout-entry.ts'
import type { PolicyRuleInput } from './schema/toolkit/policy.ts'
import { DEFAULT_CALLERS, loadInput, type ResolveOptions, resolveInput } from './schema/toolkit/selection.ts'
import type { ToolTransformer } from './schema/toolkit/tool.ts'
import type { LoadedTools } from './search/loaded-tools.ts'
import type { Resolver } from './search/resolve-prompt.ts'
import type { LoadedTool } from './search/select-tools.ts'
import type { SelectionMemory } from './search/selection-memory.ts'

export interface ThreadAddress {
  userId: string
  threadId: string
}

export interface ThreadOptions {
  /** Transformers of this thread's tools, applied in order. */
  transform?: readonly ToolTransformer[]
  /** Whether a change fails if the thread was deleted, instead of creating it again. @default false */
  mustExist?: boolean
}

/** Why a tool is in the loadout, or is not. */
export interface Explanation {
  ref: string
  modelName: string
  tier: Tier
  included: boolean
  reasons: Reason[]
}

/** A run whose model makes the calls of a selection. */
export interface SelectionRun {
  runId: string
  /** Makes each call as a step of the run. */
  call(call: NamedCall, invoke: (call: NamedCall) => Promise<CallOutcome>): Promise<CallOutcome>
}

export interface Thread extends ThreadAddress {
  /**
   * Turns on toolkits, tools, or tools that match a glob. An unknown ref is an error that lists the existing ones.
   * @example await thread.activate('github', 'files.read_*')
   */
  activate(...refs: string[]): Promise<void>
  /**
   * Turns tools off for this thread. No call can undo it.
   * @example await thread.deactivate('github.delete_repo')
   */
  deactivate(...refs: string[]): Promise<void>
  /**
   * Limits the thread to these refs.
   * @example await thread.use(['github'])
   */
  use(refs: readonly string[]): Promise<void>
  /**
   * Clears the activation of one ref, or all: the thread then has what its user has.
   * @example await thread.reset()
   */
  reset(ref?: string): Promise<void>
  /**
   * Lists the activations of the thread, oldest first.
   * @example const rules = await thread.activations()
   */
  activations(): Promise<readonly ActivationRule[]>
  /**
   * Whether the thread is limited to what it activated.
   * @example if (await thread.isExclusive()) await thread.reset()
   */
  isExclusive(): Promise<boolean>
  /**
   * Warnings that name the servers which a limit leaves out; empty without a limit.
   * @example console.log(await thread.warnings())
   */
  warnings(): Promise<string[]>
  /**
   * Resolves the loadout, with `read_result` if a stored result exists. `narrow` reduces it for one use.
   * @example const { tools } = await thread.loadout()
   */
  loadout(narrow?: Narrowing): Promise<Loadout>
  /**
   * Lists every tool with the reasons why it is in the loadout or not; with a prompt, also how well it matches.
   * @example const [first] = await thread.explain({ prompt: 'close the issue' })
   */
  explain(narrow?: Narrowing & { prompt?: string | undefined }): Promise<Explanation[]>
  /**
   * Selects the tools for a prompt: always-on tools, loaded tools, and what the prompt needs.
   * @example const selection = await thread.select({ prompt: 'close the issue', limit: 12 })
   */
  select(options: ResolveOptions & { narrow?: Narrowing }, run?: SelectionRun): Promise<Selection>
  /**
   * Loads tools for this and the following prompts. `sticky` keeps them until they are unloaded.
   * @example await thread.load(['github.create_issue'], { sticky: true })
   */
  load(refs: readonly string[], options?: { sticky?: boolean }): Promise<void>
  /**
   * Unloads these tools, or all.
   * @example await thread.unload()
   */
  unload(refs?: readonly string[]): Promise<void>
  /**
   * Lists loaded tools, oldest first.
   * @example const loaded = await thread.loaded()
   */
  loaded(): Promise<readonly LoadedTool[]>
  /**
   * Runs a program in which tools are functions. It resolves when the program is over or needs a person, and never throws for
   * an error of the program.
   * @example const { output } = await thread.run('return (await github.list_issues({})).length')
   */
  run(program: string | ThreadProgram, options?: RunOptions): Promise<RunView>
  /**
   * Calls a tool of the loadout by its model name or ref. `rules` only tighten.
   * @example const outcome = await thread.call({ name: 'files.read_file', arguments: { path: 'notes.md' } })
   */
  call(call: NamedCall & { narrow?: Narrowing; rules?: readonly PolicyRuleInput[] }): Promise<CallOutcome>
}

/** A program with its input. */
export type ThreadProgram = ProgramInput

export interface ThreadDeps {
  activations: Activations
  loadouts: Pick<Loadouts, 'resolve'>
  calls: Pick<Calls, 'start'>
  results: Pick<Results, 'hasAny'>
  loaded: LoadedTools
  resolver: Resolver
  selections: SelectionMemory
  run: HostRuns['run']
  programs: ProviderPrograms
  ahead: ApprovalRequests
  /** Adds `run_code` to a selection, if the host runs programs. */
  offer: HostRuns['offer']
  events: Emitter
}

/** With more events at once, listeners refetch instead. */
const MAX_EVENTS = 500

export function createThread(
  parts: ThreadDeps,
  address: ThreadAddress,
  { transform, mustExist }: ThreadOptions = {},
): Thread {
  const userId = parse(userIdSchema, address.userId)
  const threadId = parse(threadIdSchema, address.threadId)
  const scope = { userId, threadId }
  const { readLoadout, readLoadoutFor } = createLoadoutReaders(parts, scope, transform)
  const loadout = async (narrow?: Narrowing) =>
    withReadResult(await readLoadout(narrow), await parts.results.hasAny(userId))

  /** Runs a change and emits which tools it added and removed. */
  async function change(work: (before: Loadout) => Promise<void>): Promise<void> {
    const before = await readLoadout()
    await work(before)
    const after = await readLoadout()
    const changes = [
      ...difference(after.tools, before.tools).map((ref) => ({ type: 'tool-loaded' as const, ref })),
      ...difference(before.tools, after.tools).map((ref) => ({ type: 'tool-unloaded' as const, ref })),
    ]
    for (const event of changes.slice(0, MAX_EVENTS)) parts.events.emit({ ...event, userId, threadId })
  }
  const set = (refs: readonly string[], on: boolean) =>
    change(async (before) => {
      assertRefs(refs, before, { path: 'ref', mayFitNothing: !on })
      const rules = refs.map((ref) => ({ ref, on }))
      await parts.activations.set(scope, rules, { mustExist })
    })

  return {
    ...scope,
    activate: (...refs) => set(refs, true),
    deactivate: (...refs) => set(refs, false),
    use: (refs) =>
      change(async (before) => {
        assertRefs(refs, before, { path: 'toolkits', mayFitNothing: false })
        await parts.activations.use(scope, refs, { mustExist })
      }),
    reset: (ref) => change(() => parts.activations.clear(scope, ref)),
    async activations() {
      const rules = await parts.activations.list(scope)
      return rules.filter((rule) => rule.ref !== EXCLUSIVE).map(({ ref, on }) => ({ ref, on }))
    },
    async isExclusive() {
      return (await parts.activations.list(scope)).some((rule) => rule.ref === EXCLUSIVE)
    },
    warnings: async () => capWarnings(await readLoadout()),
    loadout,
    async explain({ prompt = '', ...narrow } = {}) {
      const whole = await readLoadoutFor({ prompt }, narrow, { decided: true })
      const all = withReadResult(whole, await parts.results.hasAny(userId))
      const found = prompt.trim() === '' ? undefined : await parts.resolver.fit(userId, all, prompt)
      return all.entries.map((entry) => {
        const { ref, modelName, tier, included } = entry
        const fit = found?.(entry)
        return { ref, modelName, tier, included, reasons: fit ? [...entry.reasons, fit] : entry.reasons }
      })
    },
    ...loading(parts, scope, { readLoadout, readLoadoutFor }),
    run: (program, options) => parts.run(scope, typeof program === 'string' ? { program } : program, options),
    async call({ narrow, rules, ...call }) {
      // A name of the wrong type is reported with the other errors of the call.
      const calledTool = typeof call.name === 'string' ? call.name : undefined
      const place = {
        calls: withRules(parts.calls, rules),
        loadout: await readLoadout(narrow, { calledTool }),
        ...scope,
      }
      return parts.programs.call(place, call)
    },
  }
}

type ReadOptions = Pick<LoadoutOptions, 'calledTool' | 'decided' | 'preferred' | 'uncapped' | 'waitMs'>

interface LoadoutReaders {
  readLoadout: (narrow?: Narrowing, how?: ReadOptions) => Promise<Loadout>
  /** A limit keeps the toolkits that match the prompt best; without a limit the loadout is the same for every prompt. */
  readLoadoutFor: (options: ResolveOptions, narrow?: Narrowing, how?: ReadOptions) => Promise<Loadout>
}

function createLoadoutReaders(
  { loadouts, loaded, resolver }: ThreadDeps,
  scope: ThreadAddress,
  transform: ThreadOptions['transform'],
): LoadoutReaders {
  const readLoadout: LoadoutReaders['readLoadout'] = (narrow, how = {}) =>
    loadouts.resolve(scope, { narrow, transform, ...how })
  return {
    readLoadout,
    async readLoadoutFor(options, narrow, how) {
      const first = await readLoadout(narrow, how)
      if (first.droppedToolkits.length === 0) return first
      const all = await readLoadout(narrow, { ...how, uncapped: true })
      const preferred = await resolver.preferred({ ...scope, loadout: all, loaded: await loaded.list(scope) }, options)
      return preferred.length === 0 ? first : readLoadout(narrow, { ...how, preferred })
    },
  }
}

/** Selection for a prompt, and tools that stay loaded. */
function loading(
  { loaded, resolver, selections, calls, offer, programs, ahead }: ThreadDeps,
  scope: ThreadAddress,
  { readLoadout, readLoadoutFor }: LoadoutReaders,
): Pick<Thread, 'select' | 'load' | 'unload' | 'loaded'> {
  return {
    async select(input, run) {
      const { narrow, ...options } = parse(jsonObject, input) as typeof input
      const { waitMs } = parse(resolveInput.pick({ waitMs: true }), { waitMs: options.waitMs })
      const loadout = await readLoadoutFor(options, narrow, { waitMs })
      const place = { ...scope, loadout, own: ownEntries(loadout), loaded: await loaded.list(scope) }
      const { selection: chosen, ...counting } = await resolver.resolve(place, options)
      const { prompt, programs: coded, callers = DEFAULT_CALLERS } = options
      const how = { ...counting, only: coded === 'only', callers, loadoutTools: loadout.tools }
      const selection = await selections.remember(scope, coded ? offer(chosen, how) : chosen)
      // The model calls by this selection; the pipeline checks the loadout as it is at the time of the call.
      const from = { calls, loadout, ...scope, ...(run ? { runId: run.runId } : {}) }
      const invoke = (named: NamedCall) => (named.asked ? ahead : programs).call(from, { prompt, ...named })
      const call = run ? (named: NamedCall) => run.call(named, invoke) : invoke
      const ask = (named: NamedCall) => ahead.ask(from, named)
      return createSelection(
        { ...counting, callers, call, ask, follow: (program) => programs.follow(scope, program) },
        selection,
      )
    },
    async load(input, options) {
      const refs = parse(loadInput, input)
      const { tools, entries } = await readLoadout()
      const missing = refs.filter((ref) => !tools.some((entry) => entry.ref === ref))
      if (missing.length > 0) throw notInLoadout(missing)
      const existing = new Set(entries.map((entry) => entry.ref))
      await loaded.load(scope, refs, { sticky: options?.sticky, existing })
    },
    unload: async (refs) => loaded.unload(scope, refs && parse(loadInput, refs)),
    async loaded() {
      const [all, { entries }] = await Promise.all([loaded.list(scope), readLoadout()])
      // Tools of a removed toolkit are not loaded any more.
      const loadedTools = all.filter(({ ref, byPrompt }) => !byPrompt && entries.some((entry) => entry.ref === ref))
      return loadedTools.map(({ ref, sticky }) => ({ ref, sticky }))
    },
  }
}

const notInLoadout = (refs: readonly string[]) =>
  new HostError('not-carried', {
    detail: `The thread does not carry ${refs.slice(0, 10).join(', ').slice(0, 300)}.`,
    action: 'Activate it for the thread first, if it is there at all.',
  })

function difference(all: readonly LoadoutEntry[], without: readonly LoadoutEntry[]): string[] {
  const known = new Set(without.map((tool) => tool.ref))
  return all.map((tool) => tool.ref).filter((ref) => !known.has(ref))
}
