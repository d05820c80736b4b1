/** A selection that goes on: its calls go the one way, and what `search_tools` finds is there in the next step. */
import { z } from 'zod'
import type { LoadoutEntry } from '../schema/loadout-entry.ts'
import type { ProviderProgram } from '../schema/provider-program.ts'
import type { SelectedTool, SelectionData } from '../schema/selection.ts'
import { SEARCH_ENTRY } from '../search/search-tools.ts'
import type { CallOutcome } from './call.ts'
import type { NamedCall } from './call-by-name.ts'

export interface Selection extends SelectionData {
  /** Calls a tool by the name that the model saw. */
  call(call: NamedCall): Promise<CallOutcome>
  /** Tells what a response says of programs that the provider runs: each is a run, whose ids it gives in their order. */
  follow(programs: readonly ProviderProgram[]): Promise<string[]>
  /** For the next step: the same, and behind it what was found since. */
  next(): Selection
}

export interface LiveParts {
  call: (call: NamedCall) => Promise<CallOutcome>
  follow: (programs: readonly ProviderProgram[]) => Promise<string[]>
  count: (entry: LoadoutEntry) => number
  maxTokens?: number | undefined
}

/** What `search_tools` answers for programs. */
const foundTools = z.object({ tools: z.array(z.object({ ref: z.string() })) })

export function liveSelection(parts: LiveParts, data: SelectionData): Selection {
  const found = new Set<string>()
  return {
    ...data,
    async call(call) {
      const outcome = await parts.call(call)
      if (call.name === SEARCH_ENTRY.modelName || call.name === SEARCH_ENTRY.ref)
        for (const ref of refsOf(outcome)) found.add(ref)
      return outcome
    },
    follow: (programs) => parts.follow(programs),
    next: () => liveSelection(parts, extend(data, [...found], parts)),
  }
}

function refsOf(outcome: CallOutcome): string[] {
  const read = outcome.status === 'ok' ? foundTools.safeParse(outcome.structuredContent) : undefined
  return read?.success ? read.data.tools.map(({ ref }) => ref) : []
}

/** What is there stays where it is; what finds no room is said. */
function extend(
  data: SelectionData,
  refs: readonly string[],
  { count, maxTokens = Number.POSITIVE_INFINITY }: LiveParts,
): SelectionData {
  const tools = data.tools.filter(({ entry }) => entry !== SEARCH_ENTRY)
  const last = data.tools.filter(({ entry }) => entry === SEARCH_ENTRY)
  const dropped = [...data.dropped]
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
  const kept = new Set(tools.map(({ entry }) => entry))
  const deferred = data.deferred.filter((entry) => !kept.has(entry))
  return { ...data, tools: [...tools, ...last], deferred, dropped, tokens: { ...data.tokens, after } }
}
