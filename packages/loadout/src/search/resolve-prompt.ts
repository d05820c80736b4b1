/** Resolves a prompt to a selection: searches the loadout within a token budget. */
import type { z } from 'zod'
import { BUILT_IN_NAMES, BUILT_IN_TOOLKIT } from '../loadout/built-in-entry.ts'
import { capWarnings, cutWarnings } from '../loadout/limit-warnings.ts'
import type { Loadout } from '../loadout/overlay.ts'
import { parse } from '../schema/json.ts'
import type { LoadoutEntry, Reason } from '../schema/toolkit/loadout-entry.ts'
import {
  DEFAULT_CALLERS,
  DEFAULT_SELECTED,
  type ResolveOptions,
  resolveInput,
  type SelectionData,
} from '../schema/toolkit/selection.ts'
import type { AllowedCaller } from '../schema/toolkit/tool.ts'
import type { PreferenceStore } from '../threads/preferences.ts'
import { type HistoryHints, parseHistory } from './history.ts'
import { mayBeCalledBy } from './index/toolkits.ts'
import type { Searcher, SearchResult } from './searcher.ts'
import { type LoadedTool, selectTools } from './select-tools.ts'
import { budgetOf, type Prices } from './tokens/budget.ts'
import { DefinitionCounter, type Tokenizer, tokenizerOf } from './tokens/tokenizer.ts'

export interface PromptScope {
  userId: string
  threadId?: string | undefined
  loadout: Loadout
  /** Built-in tools of the host. */
  own: readonly LoadoutEntry[]
  loaded: readonly LoadedTool[]
}

export interface Resolved {
  selection: SelectionData
  /** For tools that are found later: token count of a definition, and the total budget. */
  count: (entry: LoadoutEntry) => number
  maxTokens: number | undefined
  tokenizer: Tokenizer
}

export interface Resolver {
  resolve(scope: PromptScope, options: ResolveOptions): Promise<Resolved>
  /** Explains per deferred tool how well it matches a prompt. */
  fit(userId: string, loadout: Loadout, prompt: string): Promise<(entry: LoadoutEntry) => Reason | undefined>
  /** Toolkits that a cap keeps first: those with loaded or called tools, then by the prompt. */
  preferred(scope: Omit<PromptScope, 'own'>, options: ResolveOptions): Promise<string[]>
}

export interface ResolverDeps {
  searcher: Searcher
  preferences: Pick<PreferenceStore, 'get'>
  /** Tokens up to which all tools of a loadout are sent. */
  deferAboveTokens: () => Promise<number>
  /** @default the tokenizer of the model's family */
  tokenizer?: Tokenizer | undefined
  /** Token prices, for limits in money. @default none */
  prices?: Prices | undefined
}

/** Counting many definitions for the first time must not delay a prompt. */
const COUNTING_MS = 50
/** No provider takes more deferred tools than this. */
const MAX_DEFERRED = 512
const MAX_RANKED = 1000

export function createResolver(deps: ResolverDeps): Resolver {
  const { searcher, preferences, tokenizer, prices } = deps
  const counters = new Map<string, DefinitionCounter>()
  /** Counts are cached per tokenizer; families share a vocabulary but not its name. */
  const counterFor = async (model: string | undefined) => {
    const selectedTokenizer = tokenizer ?? (await tokenizerOf(model))
    const counter = counters.get(selectedTokenizer.name) ?? new DefinitionCounter(selectedTokenizer)
    if (counters.size < 20) counters.set(selectedTokenizer.name, counter)
    return counter
  }

  return {
    async fit(userId, { entries }, prompt) {
      const { hits } = await searcher.search(entries, prompt, { userId, callers: DEFAULT_CALLERS, limit: MAX_RANKED })
      const ranks = new Map(hits.map(({ ref, score }, at) => [ref, { rank: at + 1, score }]))
      return (entry) => (entry.included && !isOwnEntry(entry) ? fitOf(ranks.get(entry.ref)) : undefined)
    },
    async preferred({ userId, loadout, loaded }, options) {
      const { prompt, history = [] } = parse(resolveInput, options)
      const hints = parseHistory(history)
      const text = prompt.trim() === '' ? hints.text : prompt
      const first = [...loaded, ...calledIn(loadout.tools, hints)].map(({ ref }) => ref)
      const searchOptions = { userId, callers: DEFAULT_CALLERS, context: hints.text, limit: MAX_RANKED }
      const { hits } = text.trim() === '' ? { hits: [] } : await searcher.search(loadout.entries, text, searchOptions)
      const owner = new Map(loadout.tools.map(({ ref, uscoId }) => [ref, uscoId]))
      const ranked = [...first, ...hits.map(({ ref }) => ref)].map((ref) => owner.get(ref))
      return [...new Set(ranked.filter((uscoId) => uscoId !== undefined))]
    },
    async resolve({ userId, threadId, loadout, own, loaded }, options) {
      const input = parse(resolveInput, options)
      const hints = parseHistory(input.history ?? [])
      const { autoLoadTools } = await preferences.get(userId)
      const limit = input.limit ?? DEFAULT_SELECTED
      const shouldSearch = autoLoadTools && limit > 0 && input.prompt.trim() !== ''
      const callers = callersOf(input)
      const tools = [...loadout.tools, ...own].filter((entry) => mayBeCalledBy(entry, callers))
      const loadedTools = [...loaded, ...calledIn(tools, hints)]
      const found = shouldSearch
        ? await searchPrompt(searcher, { userId, loadout, tools, callers, hints, loadedTools, limit }, input)
        : undefined
      const counter = await counterFor(input.model)
      const count = (entry: LoadoutEntry) => counter.count(entry)
      const maxTokens = budgetOf(input, prices)
      const result = selectTools({
        tools,
        loaded: loadedTools,
        hits: found?.hits ?? [],
        rest: found?.rest,
        maxTokens,
        count,
        // With auto-loading off, or a lower limit, a small loadout is not sent as a whole.
        mayTakeAll: autoLoadTools && (input.limit === undefined || countDeferred(tools, loadedTools) <= limit),
        sendAllBelow: input.limit === undefined ? await deps.deferAboveTokens() : 0,
      })
      const { tokens: before, exact } = counter.sum(tools, COUNTING_MS)
      const selection: SelectionData = {
        ...(threadId === undefined ? {} : { threadId }),
        userId,
        tools: result.tools,
        stablePrefix: 0,
        deferred: result.deferred,
        dropped: [...result.dropped, ...droppedToolkits(loadout)],
        unavailable: unavailableToolkits(loadout),
        tokens: { tokenizer: counter.name, before, after: result.tokens, exact },
        strategy: found?.strategy ?? input.strategy ?? 'hybrid',
        warnings: [...(found?.warnings ?? []), ...capWarnings(loadout), ...cutWarnings(loadout)],
      }
      return { selection, count, maxTokens, tokenizer: counter.tokenizer }
    },
  }
}

/** Toolkits that the cap excludes, by id. */
function droppedToolkits({ toolkits, droppedToolkits: ids }: Loadout): SelectionData['dropped'] {
  const reasonOf = (id: string) =>
    toolkits.find((toolkit) => toolkit.id === id && !toolkit.active)?.reasons.at(-1)?.detail
  return ids.map((ref) => ({ ref, reason: reasonOf(ref) ?? 'The thread has too many servers.' }))
}

/** Active toolkits without tools, by id. */
const unavailableToolkits = ({ toolkits }: Loadout): SelectionData['unavailable'] =>
  toolkits.flatMap(({ id, unavailable }) => (unavailable ? [{ toolkit: id, ...unavailable }] : []))

const isOwnEntry = ({ toolkit, tool }: LoadoutEntry) => toolkit === BUILT_IN_TOOLKIT && BUILT_IN_NAMES.has(tool)

function fitOf(hit: { rank: number; score: number } | undefined): Reason {
  if (!hit) return { kind: 'search', speaks: 'against', tier: 'call', detail: 'The prompt does not find it.' }
  const detail = `The prompt finds it at rank ${hit.rank}, with a score of ${hit.score.toFixed(2)}.`
  return { kind: 'search', speaks: 'for', tier: 'call', detail }
}

interface PromptSearch {
  userId: string
  loadout: Loadout
  /** Tools that may be selected. */
  tools: readonly LoadoutEntry[]
  callers: readonly AllowedCaller[]
  hints: HistoryHints
  loadedTools: readonly LoadedTool[]
  limit: number
}

/**
 * Tools that are sent anyway do not count toward the prompt's limit. Those of earlier prompts do, so that a thread does
 * not grow with every prompt.
 */
function searchPrompt(
  searcher: Searcher,
  { userId, loadout, tools, callers, hints, loadedTools, limit }: PromptSearch,
  { prompt, strategy }: z.output<typeof resolveInput>,
): Promise<SearchResult> {
  const always = tools.filter((entry) => !entry.deferred)
  const existing = new Set([...always, ...loadedTools.filter(({ byPrompt }) => !byPrompt)].map(({ ref }) => ref))
  const rest = tools.length > limit + existing.size ? MAX_DEFERRED : 0
  const options = { userId, callers, limit, strategy, context: hints.text, existing, rest }
  return searcher.search(loadout.entries, prompt, options)
}

/** Tools for our own programs are in their declarations. */
function callersOf({ callers, programs }: z.output<typeof resolveInput>): readonly AllowedCaller[] {
  const base = callers ?? DEFAULT_CALLERS
  return programs ? [...base, 'code'] : base
}

function countDeferred(tools: readonly LoadoutEntry[], loadedTools: readonly LoadedTool[]): number {
  const loadedRefs = new Set(loadedTools.map(({ ref }) => ref))
  return tools.filter((entry) => entry.deferred && !loadedRefs.has(entry.ref)).length
}

/** A model may call a tool again, so definitions of called tools stay. */
function calledIn(tools: readonly LoadoutEntry[], { called }: HistoryHints): LoadedTool[] {
  if (called.size === 0) return []
  return tools.filter((entry) => called.has(entry.modelName)).map(({ ref }) => ({ ref, sticky: false }))
}
