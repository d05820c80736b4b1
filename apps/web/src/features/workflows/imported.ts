/** What was imported, on its way to the editor. It stands in the session, so that a reload does not lose it. */
import type { Definition } from './definition.ts'
import { readDefinition } from './read-definition.ts'

const KEY = 'loadout-imported-workflow'

export function keepImport(definition: Definition): void {
  window.sessionStorage.setItem(KEY, JSON.stringify(definition))
}

export function takeImport(): Definition | undefined {
  const read = readDefinition(window.sessionStorage.getItem(KEY) ?? 'null')
  return 'definition' in read ? read.definition : undefined
}

export const forgetImport = (): void => window.sessionStorage.removeItem(KEY)
