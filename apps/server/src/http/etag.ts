/** ETags of toolkits from their update time, for `If-Match`. */
import { HostError } from '@loadout/core'
import type { StoredToolkit } from '@loadout/core/services'

export const ifMatch = {
  name: 'If-Match',
  in: 'header',
  required: false,
  schema: { type: 'string' },
  description: 'The `ETag` that it was read with; 409 where it was changed since. Of one that may be changed here',
} as const

export const etagOf = ({ updatedAt }: StoredToolkit['row']) => `"${updatedAt.getTime()}"`

/** Parses an ETag of a toolkit, including weak ETags from proxies and compression. */
export function changedAt(match: string | undefined): Date | undefined {
  if (match === undefined || match === '*') return undefined
  const [, ms] = /^(?:W\/)?"(\d{1,15})(?:-gzip)?"$/.exec(match) ?? []
  if (ms === undefined)
    throw new HostError('invalid-input', {
      detail: 'If-Match is not an ETag of a toolkit.',
      errors: [{ path: 'If-Match', message: 'must be what `ETag` said when it was read' }],
    })
  return new Date(Number(ms))
}
