import type { AppConfig } from '../schema/app-config.ts'
import { compileGlob } from '../schema/glob.ts'
import type { StoredToolkit } from './stored-toolkit.ts'

/** Whether a server's word counts. Who does not trust wins: the operator, or the toolkit's own record. */
export function isTrusted({ toolkit, tier }: Pick<StoredToolkit, 'toolkit' | 'tier'>, { trust }: AppConfig): boolean {
  if (toolkit.untrusted || (tier !== 'app' && !trust.userToolkits)) return false
  return !trust.untrusted.some((glob) => compileGlob(glob).matches(toolkit.id))
}
