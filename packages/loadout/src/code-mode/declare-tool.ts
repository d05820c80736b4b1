/** One tool as a program of a scope sees it: what `describe` tells there, under the name that it has there. */
import { HostError } from '../errors.ts'
import type { LoadoutScope, Loadouts } from '../loadout/loadouts.ts'
import type { LoadoutEntry } from '../schema/loadout-entry.ts'
import { tokenizerOf } from '../search/tokenizer.ts'
import { BUILT_IN } from './bridge.ts'
import { codeNames, inCode } from './code-names.ts'
import { declare } from './declarations.ts'

export interface ToolDeclaration {
  /** TypeScript. */
  text: string
  /** How a program names it: `everything["get-sum"]`. */
  name: string
  /** Why no program of the scope can call it, where none can. */
  uncallable?: string
}

export interface DeclareParts {
  loadouts: Pick<Loadouts, 'of'>
  /** Whether the host runs programs at all. */
  runsPrograms: boolean
}

/** As much as `describe` tells of one. */
export const MOST_TOKENS = 4000

export async function declareTool(
  { loadouts, runsPrograms }: DeclareParts,
  scope: LoadoutScope,
  ref: string,
): Promise<ToolDeclaration> {
  const { entries, tools } = await loadouts.of(scope, { behind: true })
  const entry = entries.find((one) => one.ref === ref && !one.reasons.some(({ kind }) => kind === 'shadowed'))
  if (!entry) throw new HostError('not-found', { detail: `There is no tool "${ref.slice(0, 400)}" of yours.` })
  const names = codeNames(entry.included ? tools : [...tools, entry], { reserved: BUILT_IN })
  const { text } = declare([entry], { maxTokens: MOST_TOKENS, tokenizer: await tokenizerOf(), names })
  const uncallable = runsPrograms ? whyNot(entry) : 'This host runs no programs.'
  const name = names.get(ref)
  return { text, name: name ? inCode(name) : ref, ...(uncallable === undefined ? {} : { uncallable }) }
}

function whyNot({ included, reasons, allowedCallers }: LoadoutEntry): string | undefined {
  if (!allowedCallers.includes('code')) return 'Its toolkit lets models call it, and no programs.'
  if (included) return undefined
  const against = reasons.filter(({ speaks }) => speaks === 'against').map(({ detail }) => detail)
  return against.join(' ') || 'It is not carried.'
}
