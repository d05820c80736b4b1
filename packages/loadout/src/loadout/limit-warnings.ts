/** Reports toolkits that a cap keeps out of a thread, and catalogs that were cut, so that no tool is lost silently. */
import type { Loadout } from './overlay.ts'

const MAX_NAMES = 20

export function capWarnings({ droppedToolkits, toolkits }: Pick<Loadout, 'droppedToolkits' | 'toolkits'>): string[] {
  if (droppedToolkits.length === 0) return []
  const more = droppedToolkits.length > MAX_NAMES ? ` and ${droppedToolkits.length - MAX_NAMES} more` : ''
  const names = `${droppedToolkits.slice(0, MAX_NAMES).join(', ')}${more}`
  const limit = toolkits.flatMap(({ reasons }) => reasons).find(({ kind }) => kind === 'limit')
  const servers = droppedToolkits.length === 1 ? '1 server is' : `${droppedToolkits.length} servers are`
  const why = limit === undefined ? '' : `${limit.detail} `
  return [`${why}${servers} left out: ${names}. Raise the limit, or turn off other servers in this thread.`]
}

/** Catalogs of active toolkits that have fewer tools than their servers list. */
export const cutWarnings = ({ toolkits }: Pick<Loadout, 'toolkits'>): string[] =>
  toolkits.flatMap(({ id, cut }) => (cut === undefined ? [] : [`Tools of \`${id}\` are missing. ${cut}`]))
