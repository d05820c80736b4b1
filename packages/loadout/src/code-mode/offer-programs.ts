/**
 * Adds `run_code` to a selection, with declarations of the callable tools. With `only`, callable tools appear only as
 * declarations.
 */
import type { LoadoutEntry } from '../schema/toolkit/loadout-entry.ts'
import type { SelectedTool, SelectionData } from '../schema/toolkit/selection.ts'
import type { AllowedCaller } from '../schema/toolkit/tool.ts'
import { mayBeCalledBy } from '../search/index/toolkits.ts'
import { SEARCH_ENTRY } from '../search/search-tools.ts'
import type { Tokenizer } from '../search/tokens/tokenizer.ts'
import { BUILT_IN } from './bridge.ts'
import { declare } from './declarations/declarations.ts'
import { codeNames } from './function-names.ts'
import { RUN_CODE, RUN_CODE_ENTRY } from './run-code-tool.ts'

export interface OfferOptions {
  /** All tools that the program may call; function names are unique among them. */
  loadoutTools: readonly LoadoutEntry[]
  only: boolean
  /** Callers of the remaining tools; tools that they may not call appear only as declarations. */
  callers: readonly AllowedCaller[]
  tokenizer: Tokenizer
  count: (entry: LoadoutEntry) => number
  maxTokens?: number | undefined
}

/** Default token budget of the declarations. */
const DEFAULT_TOKENS = 2000

export function offerPrograms(whole: SelectionData, options: OfferOptions): SelectionData {
  const { loadoutTools, only, tokenizer, count, maxTokens = Number.POSITIVE_INFINITY } = options
  const callable = whole.tools.map(({ entry }) => entry).filter((entry) => mayBeCalled(entry))
  const selection = callableBy(whole, options.callers)
  const names = codeNames(loadoutTools, { reserved: BUILT_IN })
  const remaining = only
    ? selection.tools.filter(({ entry }) => !mayBeCalled(entry) && entry !== SEARCH_ENTRY)
    : selection.tools
  const spent = remaining.reduce((sum, { tokens }) => sum + tokens, 0)
  const room = Math.min(DEFAULT_TOKENS, maxTokens - spent - count(RUN_CODE_ENTRY))
  if (room < 0) return dropped(selection, `It costs ${count(RUN_CODE_ENTRY)} tokens, and maxTokens is ${maxTokens}.`)
  const { text } = declare(callable, { maxTokens: room, tokenizer, names })
  const description = text === '' ? RUN_CODE.description : `${RUN_CODE.description}\n\n${text}`
  const entry: LoadoutEntry = { ...RUN_CODE_ENTRY, manifest: { ...RUN_CODE, description } }
  const offered: SelectedTool = { entry, by: 'always', reasons: ['It runs programs over tools.'], tokens: count(entry) }
  const tools = [...remaining, offered]
  const offeredEntries = new Set(tools.map((one) => one.entry))
  const moved = only ? callable.filter((one) => !offeredEntries.has(one) && mayBeCalledBy(one, options.callers)) : []
  const after = tools.reduce((sum, { tokens }) => sum + tokens, 0)
  return { ...selection, tools, deferred: [...selection.deferred, ...moved], tokens: { ...selection.tokens, after } }
}

/** Removes tools that none of the callers may call. */
export function callableBy(selection: SelectionData, callers: readonly AllowedCaller[]): SelectionData {
  const deferred = selection.deferred.filter((entry) => mayBeCalledBy(entry, callers))
  const isLeft = ({ entry }: SelectedTool) =>
    entry === SEARCH_ENTRY ? deferred.length > 0 : mayBeCalledBy(entry, callers)
  const tools = selection.tools.filter(isLeft)
  const after = tools.reduce((sum, { tokens }) => sum + tokens, 0)
  return { ...selection, tools, deferred, tokens: { ...selection.tokens, after } }
}

const mayBeCalled = ({ allowedCallers, uscoId, tier }: LoadoutEntry) =>
  allowedCallers.includes('code') && (uscoId !== undefined || tier === 'call')

const dropped = (selection: SelectionData, reason: string): SelectionData => ({
  ...selection,
  dropped: [...selection.dropped, { ref: RUN_CODE_ENTRY.ref, reason }],
})
