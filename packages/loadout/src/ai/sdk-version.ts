/** Differences between the AI SDK 6 and 7, decided by the exports of the installed one. */
import * as sdk from 'ai'
import { HostError } from '../errors.ts'

/** Version 7 added `toolSearch`. A namespace import also loads in version 6, which does not have it. */
export const isVersion6 = !('toolSearch' in sdk)

/** `toolSearch` of the SDK, or an error that names the version. */
export function sdkToolSearch(): typeof sdk.toolSearch {
  if (!isVersion6) return sdk.toolSearch
  throw new HostError('invalid-input', {
    detail: "The search `{ by: 'ai-sdk' }` needs version 7 of `ai`, and version 6 is installed.",
    action: "Use `{ by: 'steps' }`, or install `ai@7`.",
    errors: [{ path: 'search.by', message: 'needs ai@7' }],
  })
}
