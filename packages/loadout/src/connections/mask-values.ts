/**
 * Masks a toolkit's own secrets in the values that its server gives: results, resources and prompts. A key that is not the
 * toolkit's stays: it may be what the caller asked for.
 */
import { formsOf, maskDeep } from '../toolkits/secrets/redact.ts'
import type { StoredToolkit } from '../toolkits/stored-toolkit.ts'
import type { ToolkitSecrets } from './known-secrets.ts'

/** A value without a secret is given back as it is, not as a copy. */
export type MaskValue = <T>(stored: StoredToolkit, userId: string, value: T) => Promise<T>

export function createMaskValue(secrets: Pick<ToolkitSecrets, 'list'>): MaskValue {
  const known = new WeakMap<readonly string[], readonly string[]>()
  const formsIn = (values: readonly string[]) => {
    const forms = known.get(values) ?? formsOf(values)
    known.set(values, forms)
    return forms
  }
  return async <T>(stored: StoredToolkit, userId: string, value: T): Promise<T> => {
    const forms = formsIn(await secrets.list(stored, userId))
    return forms.length === 0 ? value : (maskDeep(value, forms) as T)
  }
}
