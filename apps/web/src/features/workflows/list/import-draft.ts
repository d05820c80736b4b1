/** Imported definition on its way to the editor, in session storage, so that it survives a reload. */
import type { Definition } from '../definition/definition.ts'
import { readDefinition } from '../definition/read-definition.ts'

const KEY = 'loadout-imported-workflow'

/** Returns false if storage is blocked or full. */
export const saveImportDraft = (definition: Definition): boolean =>
  withStorage((storage) => storage.setItem(KEY, JSON.stringify(definition))) !== UNAVAILABLE

export function takeImportDraft(): Definition | undefined {
  const stored = withStorage((storage) => storage.getItem(KEY))
  const read = readDefinition(typeof stored === 'string' ? stored : 'null')
  return 'definition' in read ? read.definition : undefined
}

export const clearImportDraft = (): void => void withStorage((storage) => storage.removeItem(KEY))

const UNAVAILABLE = Symbol('not kept')

function withStorage<T>(use: (storage: Storage) => T): T | typeof UNAVAILABLE {
  try {
    return use(window.sessionStorage)
  } catch {
    return UNAVAILABLE
  }
}
