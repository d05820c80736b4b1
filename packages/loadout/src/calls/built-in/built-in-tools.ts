/**
 * Tools of the host itself. No server stands behind them: there is no pin to hold, no loadout to be in and no policy to
 * ask, because they reach nothing but what is kept for their own user. A call of one is limited and recorded like any
 * other. They are `read_result`, which a loadout carries as soon as there is something to read, `search_tools`, which a
 * selection has as soon as there is something to find, and `run_code` where the host runs programs.
 */
import type { CatalogTool } from '../../catalog/catalog.ts'
import { OWN_NAMES, OWN_TOOLKIT, ownEntry } from '../../loadout/built-in-entry.ts'
import type { Loadout } from '../../loadout/overlay.ts'
import { APP_OWNER } from '../../schema/ids.ts'
import type { ToolManifest } from '../../schema/toolkit/tool.ts'
import { type Toolkit, toolkitOptions } from '../../schema/toolkit/toolkit.ts'
import { SEARCH_TOOLS } from '../../search/search-tools.ts'
import { carryToolkit } from '../../toolkits/ephemeral-toolkit.ts'
import type { CallHandler, CallOutcome, ToolCall } from '../call.ts'
import { compose, type Stage } from '../call.ts'
import { READ_RESULT, readResult } from '../results/read-result.ts'
import type { Results } from '../results/results.ts'
import { type FindParts, findTools } from './search-tools.ts'

const OWN: Toolkit = {
  id: OWN_TOOLKIT,
  name: 'Loadout',
  enabled: true,
  server: { type: 'custom', tools: [] },
  ...toolkitOptions.parse({}),
}

export const READ_ENTRY = ownEntry(READ_RESULT, 'The host gives it: a result is kept that it reads.')

export const isOwn = ({ toolkit: id, tool }: Pick<ToolCall, 'toolkit' | 'tool'>) =>
  id === OWN_TOOLKIT && OWN_NAMES.has(tool)

/** One of them by the name that a model calls it: what it was told to call is there, whichever loadout it was given. */
export const ownByName = (name: string) => (OWN_NAMES.has(name) ? { toolkit: OWN_TOOLKIT, tool: name } : undefined)

export interface OwnTool {
  manifest: ToolManifest
  answer(call: ToolCall): Promise<CallOutcome>
  /** Stages beside those of all. */
  stages?: readonly Stage[] | undefined
}

export interface OwnParts extends FindParts {
  results: Results
  /** Before all of them, and right before the answer. */
  stages: { first: readonly Stage[]; last: readonly Stage[] }
  /** What the host has besides, where it has it by then. */
  more?: (() => readonly OwnTool[]) | undefined
}

/** Answers what is the host's own; the rest goes on. */
export function withOwnTools(parts: OwnParts, next: CallHandler): CallHandler {
  const carried = carryToolkit(OWN, { userId: APP_OWNER, tier: 'app' })
  const { first, last } = parts.stages
  const always: OwnTool[] = [
    { manifest: READ_RESULT, answer: ({ userId, arguments: input }) => readResult(parts.results, userId, input) },
    { manifest: SEARCH_TOOLS, answer: (call) => findTools(parts, call) },
  ]
  const answerOwn = async (call: ToolCall, { manifest, answer, stages = [] }: OwnTool) => {
    const stored = await carried
    const found: CatalogTool = { uscoId: stored.uscoId, manifest, pin: '' }
    call.notes.found = { toolkit: OWN_TOOLKIT, tool: manifest.name }
    return compose([...first, ...stages, ...last], answer)({ ...call, stored, found })
  }
  return (call) => {
    if (!isOwn(call) || call.brought?.has(OWN_TOOLKIT)) return next(call)
    const tool = [...always, ...(parts.more?.() ?? [])].find(({ manifest }) => manifest.name === call.tool)
    return tool ? answerOwn(call, tool) : next(call)
  }
}

/** The loadout, with the way to read what was too large to show. It is beside the rest: no list and no number leaves it out. */
export function withReadResult(loadout: Loadout, hasAny: boolean): Loadout {
  if (!hasAny || loadout.entries.some(({ ref }) => ref === READ_ENTRY.ref)) return loadout
  return {
    ...loadout,
    tools: [...loadout.tools, READ_ENTRY],
    entries: [...loadout.entries, READ_ENTRY],
    tokens: loadout.tokens + READ_ENTRY.tokens,
  }
}
