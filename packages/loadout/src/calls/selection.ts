/** A live selection: its calls pass the pipeline, and results of `search_tools` are available in the next step. */
import { z } from 'zod'
import type { ProviderProgram } from '../schema/records/program.ts'
import type { LoadoutEntry } from '../schema/toolkit/loadout-entry.ts'
import type { SelectedTool, SelectionData } from '../schema/toolkit/selection.ts'
import type { AllowedCaller } from '../schema/toolkit/tool.ts'
import { SEARCH_ENTRY } from '../search/search-tools.ts'
import type { ApprovalPreview } from './approval-request.ts'
import type { CallOutcome } from './call.ts'
import type { NamedCall } from './call-by-name.ts'

export interface Selection extends SelectionData {
  /** Calls a tool by its model name. */
  call(call: NamedCall): Promise<CallOutcome>
  /**
   * Previews the decision about a call. If approval is needed, the request is stored, and `call` with `asked: true` and
   * the same ID uses its answer.
   */
  ask(call: NamedCall): Promise<ApprovalPreview>
  /** Reports the programs of a provider response. Each is a run; returns the run IDs in order. */
  follow(programs: readonly ProviderProgram[]): Promise<string[]>
  /** Selection for the next step, with the tools found since. */
  next(): Selection
}

export interface SelectionDeps {
  call: (call: NamedCall) => Promise<CallOutcome>
  ask: (call: NamedCall) => Promise<ApprovalPreview>
  follow: (programs: readonly ProviderProgram[]) => Promise<string[]>
  /** Callers of the found tools. @default ['direct'] */
  callers?: readonly AllowedCaller[] | undefined
  count: (entry: LoadoutEntry) => number
  maxTokens?: number | undefined
}

/** Structured result of `search_tools`. */
const foundTools = z.object({ tools: z.array(z.object({ ref: z.string() })) })

export function createSelection(deps: SelectionDeps, data: SelectionData): Selection {
  const foundRefs = new Set<string>()
  return {
    ...data,
    async call(call) {
      if (call.name !== SEARCH_ENTRY.modelName && call.name !== SEARCH_ENTRY.ref) return deps.call(call)
      const visibleRefs = [...data.tools.map(({ entry }) => entry.ref), ...foundRefs]
      const outcome = await deps.call({ ...call, visibleRefs, callers: deps.callers })
      const refs = searchResultRefs(outcome)
      for (const ref of refs) foundRefs.add(ref)
      return noteDropped(outcome, extend(data, [...foundRefs], deps), new Set(refs))
    },
    ask: (call) => deps.ask(call),
    follow: (programs) => deps.follow(programs),
    next: () => createSelection(deps, extend(data, [...foundRefs], deps)),
  }
}

function searchResultRefs(outcome: CallOutcome): string[] {
  const read = outcome.status === 'ok' ? foundTools.safeParse(outcome.structuredContent) : undefined
  return read?.success ? read.data.tools.map(({ ref }) => ref) : []
}

/** Warns about found tools that exceed the token budget, because the next step does not have them. */
function noteDropped(
  outcome: CallOutcome,
  { dropped, deferred }: SelectionData,
  refs: ReadonlySet<string>,
): CallOutcome {
  const droppedRefs = dropped.filter(({ ref }) => refs.has(ref)).map(({ ref }) => ref)
  if (outcome.status !== 'ok' || droppedRefs.length === 0) return outcome
  const names = deferred.filter(({ ref }) => droppedRefs.includes(ref)).map(({ modelName }) => modelName)
  const text = `There is no room for ${names.join(', ')}: your next step does not have them.`
  return { ...outcome, content: [...outcome.content, { type: 'text', text }] }
}

/** Appends found tools and lists those that exceed the budget in `dropped`. */
function extend(
  data: SelectionData,
  refs: readonly string[],
  { count, maxTokens = Number.POSITIVE_INFINITY }: SelectionDeps,
): SelectionData {
  const tools = [...data.tools]
  // A tool that was dropped before and is found now is listed once.
  const dropped = data.dropped.filter(({ ref }) => !refs.includes(ref))
  let after = data.tokens.after
  for (const entry of data.deferred.filter(({ ref }) => refs.includes(ref))) {
    const tokens = count(entry)
    if (after + tokens > maxTokens)
      dropped.push({ ref: entry.ref, reason: `It costs ${tokens} tokens, and maxTokens is ${maxTokens}.` })
    else {
      after += tokens
      tools.push({ entry, by: 'loaded', reasons: ['search_tools found it.'], tokens } satisfies SelectedTool)
    }
  }
  const selected = new Set(tools.map(({ entry }) => entry))
  const deferred = data.deferred.filter((entry) => !selected.has(entry))
  return { ...data, tools, deferred, dropped, tokens: { ...data.tokens, after } }
}
