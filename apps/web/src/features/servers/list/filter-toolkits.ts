/** Filters toolkits by text and state. */
import type { Toolkit, ToolkitStatus } from '../../../lib/api.ts'
import type { StdioRules } from '../queries.ts'
import { addressOf } from './server-kind.tsx'

export const FILTERS = ['failed', 'needs-you', 'connected', 'off'] as const
export type Filter = (typeof FILTERS)[number]

export const FILTER_LABELS: Record<Filter, string> = {
  failed: 'Failed',
  'needs-you': 'Need you',
  connected: 'Connected',
  off: 'Off or not connected',
}

/** States that need a user action. */
const NEEDS_YOU: readonly ToolkitStatus[] = ['sign-in-needed', 'input-needed', 'changed', 'error']

const STATES: Record<Filter, readonly ToolkitStatus[]> = {
  failed: ['error'],
  'needs-you': NEEDS_YOU,
  connected: ['connected', 'connecting'],
  off: ['disabled', 'disconnected'],
}

/** A command that the operator does not allow needs no user action. */
export const needsYou = (toolkit: Toolkit, rules: StdioRules | undefined): boolean =>
  NEEDS_YOU.includes(toolkit.state.status) && !isRefused(toolkit, rules)

function isRefused({ tier, server }: Toolkit, rules: StdioRules | undefined): boolean {
  if (tier !== 'user' || server.type !== 'stdio') return false
  return rules?.policy === 'off' || (rules?.policy === 'templates' && server.template === undefined)
}

interface Wanted {
  q?: string | undefined
  status?: Filter | undefined
  rules?: StdioRules | undefined
}

export function filterToolkits(toolkits: readonly Toolkit[], { q = '', status, rules }: Wanted): Toolkit[] {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean)
  return toolkits.filter((toolkit) => {
    const isTriedAgain = status === 'failed' && hasFailed(toolkit)
    if (status && !isTriedAgain && !STATES[status].includes(toolkit.state.status)) return false
    if (status === 'needs-you' && !needsYou(toolkit, rules)) return false
    const text = `${toolkit.name} ${toolkit.id} ${addressOf(toolkit)} ${toolkit.options.account ?? ''}`.toLowerCase()
    const has = (word: string) =>
      text.includes(word) || toolkit.tools.some(({ name }) => name.toLowerCase().includes(word))
    return words.every(has)
  })
}

/** A failed server that is retried keeps its reason and its position. */
export const hasFailed = ({ state }: Pick<Toolkit, 'state'>): boolean =>
  state.status === 'error' || (state.status === 'connecting' && state.reason !== undefined)

/** Sorts failed servers first, then servers that need a user action, then the rest (stable). */
export function failedFirst(toolkits: readonly Toolkit[]): Toolkit[] {
  const rankOf = (toolkit: Toolkit) =>
    !toolkit.enabled ? 2 : hasFailed(toolkit) ? 0 : NEEDS_YOU.includes(toolkit.state.status) ? 1 : 2
  return toolkits.toSorted((a, b) => rankOf(a) - rankOf(b))
}
