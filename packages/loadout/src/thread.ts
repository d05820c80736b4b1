/** One conversation of one user: what it carries, why, and calls from within it. */

import type { ApprovalRequests } from './calls/approval-request.ts'
import { READ_ENTRY, withReadResult } from './calls/built-in/built-in-tools.ts'
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
import { DEFAULT_CALLERS, loadInput, type ResolveOptions } from './schema/toolkit/selection.ts'
import type { ToolTransformer } from './schema/toolkit/tool.ts'
import type { LoadedTools } from './search/loaded-tools.ts'
import type { Resolver } from './search/resolve-prompt.ts'
import type { LoadedTool } from './search/select-tools.ts'

export interface ThreadAddress {
  userId: string
  threadId: string
}

export interface ThreadOptions {
  /** How this thread shows its tools, in order. */
  transform?: readonly ToolTransformer[]
  /** Whether a thread that was deleted stays so, whatever it is told. @default false */
  mustExist?: boolean
}

/** Why a tool is carried, or is not. */
export interface Explanation {
  ref: string
  modelName: string
  tier: Tier
  included: boolean
  reasons: Reason[]
}

export interface Thread extends ThreadAddress {
  /** Switches on toolkits, tools, or what fits a glob. What does not exist is an error that lists what does. */
  activate(...refs: string[]): Promise<void>
  /** Switches off, for this thread; no call undoes it. */
  deactivate(...refs: string[]): Promise<void>
  /** These and no others. */
  use(refs: readonly string[]): Promise<void>
  /** Forgets what the thread said of one ref, or of all: then it carries what its user has. */
  reset(ref?: string): Promise<void>
  /** What the thread itself switched, in the order in which it did. */
  activations(): Promise<readonly ActivationRule[]>
  /** Whether its list is exclusive: nothing but what it switched on. */
  isExclusive(): Promise<boolean>
  /** Warnings that name the servers which a cap leaves out; empty without a cap. */
  warnings(): Promise<string[]>
  /** What it carries, and `read_result` where a result is kept; a call may narrow it. */
  loadout(narrow?: Narrowing): Promise<Loadout>
  /** Every tool there is, with why it is carried or not, and what would be decided; with a prompt, how well it fits that. */
  explain(narrow?: Narrowing & { prompt?: string | undefined }): Promise<Explanation[]>
  /** What a model gets with this prompt: what never waits, what is loaded, and what the prompt needs. */
  select(options: ResolveOptions & { narrow?: Narrowing }): Promise<Selection>
  /** Loads tools for this and the following prompts; `sticky` keeps them until they are unloaded. */
  load(refs: readonly string[], options?: { sticky?: boolean }): Promise<void>
  /** These, or all that were loaded. */
  unload(refs?: readonly string[]): Promise<void>
  /** What is loaded, in the order in which it was. */
  loaded(): Promise<readonly LoadedTool[]>
  /** Runs a program in which tools are functions. Resolves when it is over, or waits for a person; never throws for what it does. */
  run(program: string | ThreadProgram, options?: RunOptions): Promise<RunView>
  /** Calls a tool by the name that a model saw, or by its ref. What is not carried is not called; its rules only tighten. */
  call(call: NamedCall & { narrow?: Narrowing; rules?: readonly PolicyRuleInput[] }): Promise<CallOutcome>
}

/** A program with what it is given. */
export type ThreadProgram = ProgramInput

export interface ThreadDeps {
  activations: Activations
  loadouts: Pick<Loadouts, 'resolve'>
  calls: Pick<Calls, 'start'>
  results: Pick<Results, 'hasAny'>
  loaded: LoadedTools
  resolver: Resolver
  run: HostRuns['run']
  programs: ProviderPrograms
  ahead: ApprovalRequests
  /** Programs in a selection, where the host runs them. */
  offer: HostRuns['offer']
  events: Emitter
}

/** More at once would drown who listens; they look anew instead. */
const MAX_EVENTS = 500

export function createThread(
  parts: ThreadDeps,
  address: ThreadAddress,
  { transform, mustExist }: ThreadOptions = {},
): Thread {
  const userId = parse(userIdSchema, address.userId)
  const threadId = parse(threadIdSchema, address.threadId)
  const scope = { userId, threadId }
  const { carried, carriedFor } = carriersOf(parts, scope, transform)
  const loadout = async (narrow?: Narrowing) =>
    withReadResult(await carried(narrow), await parts.results.hasAny(userId))

  /** Writes, and tells which tools came and went by it. */
  async function change(work: (before: Loadout) => Promise<void>): Promise<void> {
    const before = await carried()
    await work(before)
    const after = await carried()
    const told = [
      ...difference(after.tools, before.tools).map((ref) => ({ type: 'tool-loaded' as const, ref })),
      ...difference(before.tools, after.tools).map((ref) => ({ type: 'tool-unloaded' as const, ref })),
    ]
    for (const event of told.slice(0, MAX_EVENTS)) parts.events.emit({ ...event, userId, threadId })
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
    warnings: async () => capWarnings(await carried()),
    loadout,
    async explain({ prompt = '', ...narrow } = {}) {
      const whole = await carriedFor({ prompt }, narrow, { decided: true })
      const all = withReadResult(whole, await parts.results.hasAny(userId))
      const found = prompt.trim() === '' ? undefined : await parts.resolver.fit(userId, all, prompt)
      return all.entries.map((entry) => {
        const { ref, modelName, tier, included } = entry
        const fit = found?.(entry)
        return { ref, modelName, tier, included, reasons: fit ? [...entry.reasons, fit] : entry.reasons }
      })
    },
    ...loading(parts, scope, { carried, carriedFor }),
    run: (program, options) => parts.run(scope, typeof program === 'string' ? { program } : program, options),
    async call({ narrow, rules, ...call }) {
      // What is not even a name is told with the rest that is wrong.
      const meant = typeof call.name === 'string' ? call.name : undefined
      const place = {
        calls: withRules(parts.calls, rules),
        loadout: await carried(narrow, { calledTool: meant }),
        ...scope,
      }
      return parts.programs.call(place, call)
    },
  }
}

type CarriedOptions = Pick<LoadoutOptions, 'calledTool' | 'decided' | 'preferred' | 'uncapped'>

interface Carriers {
  carried: (narrow?: Narrowing, how?: CarriedOptions) => Promise<Loadout>
  /** A cap keeps the toolkits that match the prompt best; without a cap the loadout is the same for every prompt. */
  carriedFor: (options: ResolveOptions, narrow?: Narrowing, how?: CarriedOptions) => Promise<Loadout>
}

function carriersOf(
  { loadouts, loaded, resolver }: ThreadDeps,
  scope: ThreadAddress,
  transform: ThreadOptions['transform'],
): Carriers {
  const carried: Carriers['carried'] = (narrow, how = {}) => loadouts.resolve(scope, { narrow, transform, ...how })
  return {
    carried,
    async carriedFor(options, narrow, how) {
      const first = await carried(narrow, how)
      if (first.droppedToolkits.length === 0) return first
      const all = await carried(narrow, { ...how, uncapped: true })
      const preferred = await resolver.preferred({ ...scope, loadout: all, loaded: await loaded.list(scope) }, options)
      return preferred.length === 0 ? first : carried(narrow, { ...how, preferred })
    },
  }
}

/** What a prompt brings, and what stays. */
function loading(
  { loaded, resolver, results, calls, offer, programs, ahead }: ThreadDeps,
  scope: ThreadAddress,
  { carried, carriedFor }: Carriers,
): Pick<Thread, 'select' | 'load' | 'unload' | 'loaded'> {
  return {
    async select(given) {
      const { narrow, ...options } = parse(jsonObject, given) as typeof given
      const loadout = await carriedFor(options, narrow)
      const own = (await results.hasAny(scope.userId)) ? [READ_ENTRY] : []
      const place = { ...scope, loadout, own, loaded: await loaded.list(scope) }
      const { selection: chosen, ...counting } = await resolver.resolve(place, options)
      const { prompt, programs: coded, callers = DEFAULT_CALLERS } = options
      const how = { ...counting, only: coded === 'only', callers, loadoutTools: loadout.tools }
      const selection = coded ? offer(chosen, how) : chosen
      // A model calls what it was given: what the scope carries by then is looked at by the pipeline.
      const from = { calls, loadout, ...scope }
      const call = (named: NamedCall) => (named.asked ? ahead : programs).call(from, { prompt, ...named })
      const ask = (named: NamedCall) => ahead.ask(from, named)
      return createSelection(
        { ...counting, callers, call, ask, follow: (told) => programs.follow(scope, told) },
        selection,
      )
    },
    async load(given, options) {
      const refs = parse(loadInput, given)
      const { tools, entries } = await carried()
      const missing = refs.filter((ref) => !tools.some((entry) => entry.ref === ref))
      if (missing.length > 0) throw notCarried(missing)
      const existing = new Set(entries.map((entry) => entry.ref))
      await loaded.load(scope, refs, { sticky: options?.sticky, existing })
    },
    unload: async (refs) => loaded.unload(scope, refs && parse(loadInput, refs)),
    async loaded() {
      const [all, { entries }] = await Promise.all([loaded.list(scope), carried()])
      // What a toolkit that is gone had is not loaded any more.
      return all.filter(({ ref }) => entries.some((entry) => entry.ref === ref))
    },
  }
}

const notCarried = (refs: readonly string[]) =>
  new HostError('not-carried', {
    detail: `The thread does not carry ${refs.slice(0, 10).join(', ').slice(0, 300)}.`,
    action: 'Activate it for the thread first, if it is there at all.',
  })

function difference(all: readonly LoadoutEntry[], without: readonly LoadoutEntry[]): string[] {
  const known = new Set(without.map((tool) => tool.ref))
  return all.map((tool) => tool.ref).filter((ref) => !known.has(ref))
}
