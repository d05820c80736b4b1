/**
 * Tools of the host itself. No server stands behind them: there is no pin to hold, no loadout to be in and no policy to
 * ask, because they reach nothing but what is kept for their own user. A call of one is limited and recorded like any
 * other. For now that is `read_result`, which a loadout carries as soon as there is something to read.
 */
import type { CatalogTool } from '../catalog/catalog.ts'
import type { Loadout } from '../loadout/overlay.ts'
import { tokensOf } from '../loadout/tokens.ts'
import { APP_OWNER } from '../schema/ids.ts'
import type { LoadoutEntry } from '../schema/loadout-entry.ts'
import { type Toolkit, toolkitOptions } from '../schema/toolkit.ts'
import { carryToolkit } from '../toolkits/carry.ts'
import type { CallHandler, ToolCall } from './call.ts'
import { compose, type Stage } from './compose.ts'
import { READ_RESULT, readResult } from './read-result.ts'
import type { Results } from './results.ts'

/** Where they are called: `loadout.read_result`. A toolkit of that id keeps its own tools, but for these names. */
export const OWN_TOOLKIT = 'loadout'

const OWN: Toolkit = {
  ...{ id: OWN_TOOLKIT, name: 'Loadout', enabled: true, server: { type: 'custom', tools: [] } },
  ...toolkitOptions.parse({}),
}

/** Names of other tools begin with `mcp_`: none is taken by its name. */
const ENTRY: LoadoutEntry = {
  ...{ ref: `${OWN_TOOLKIT}.${READ_RESULT.name}`, modelName: READ_RESULT.name, manifest: READ_RESULT },
  ...{ tier: 'app', toolkit: OWN_TOOLKIT, tool: READ_RESULT.name, tokens: tokensOf(READ_RESULT) },
  ...{ deferred: false, allowedCallers: ['direct', 'code'], included: true },
  reasons: [{ kind: 'tier', speaks: 'for', tier: 'app', detail: 'The host gives it: a result is kept that it reads.' }],
}

export const isOwn = ({ toolkit: id, tool }: Pick<ToolCall, 'toolkit' | 'tool'>) =>
  id === OWN_TOOLKIT && tool === READ_RESULT.name

/** Answers what is the host's own; the rest goes on. */
export function withOwnTools(
  { results, stages }: { results: Results; stages: readonly Stage[] },
  next: CallHandler,
): CallHandler {
  const carried = carryToolkit(OWN, { userId: APP_OWNER, tier: 'app' })
  const answer = compose(stages, ({ userId, arguments: input }) => readResult(results, userId, input))
  const answerOwn: CallHandler = async (call) => {
    const stored = await carried
    const found: CatalogTool = { uscoId: stored.uscoId, manifest: READ_RESULT, pin: '' }
    call.notes.found = { toolkit: OWN_TOOLKIT, tool: READ_RESULT.name }
    return answer({ ...call, stored, found })
  }
  return (call) => (isOwn(call) && !call.brought?.has(OWN_TOOLKIT) ? answerOwn(call) : next(call))
}

/** The loadout, with the way to read what was too large to show. It is beside the rest: no list and no number leaves it out. */
export function withReadResult(loadout: Loadout, hasAny: boolean): Loadout {
  if (!hasAny || loadout.entries.some(({ ref }) => ref === ENTRY.ref)) return loadout
  return {
    ...loadout,
    tools: [...loadout.tools, ENTRY],
    entries: [...loadout.entries, ENTRY],
    tokens: loadout.tokens + ENTRY.tokens,
  }
}
