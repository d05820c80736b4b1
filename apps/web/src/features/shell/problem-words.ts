import type { Problem } from '../../api.ts'

/** How a problem is said. Of a conflict the API's title says nothing that fits all: what happened is the heading itself. */
export function problemWords({ type, title, detail, action }: Pick<Problem, 'type' | 'title' | 'detail' | 'action'>) {
  return { title: type === 'urn:loadout:problem:conflict' ? detail : title, detail, action }
}
