/** Reports the toolkits that a cap keeps out of a thread, so that no server is lost without a word. */
import type { Loadout } from './overlay.ts'

const SHOWN = 20

export function capWarnings({ droppedToolkits, toolkits }: Pick<Loadout, 'droppedToolkits' | 'toolkits'>): string[] {
  if (droppedToolkits.length === 0) return []
  const more = droppedToolkits.length > SHOWN ? ` and ${droppedToolkits.length - SHOWN} more` : ''
  const names = `${droppedToolkits.slice(0, SHOWN).join(', ')}${more}`
  const limit = toolkits.flatMap(({ reasons }) => reasons).find(({ kind }) => kind === 'limit')
  const servers = droppedToolkits.length === 1 ? '1 server is' : `${droppedToolkits.length} servers are`
  const why = limit === undefined ? '' : `${limit.detail} `
  return [`${why}${servers} left out: ${names}. Raise the limit, or turn off other servers in this thread.`]
}
