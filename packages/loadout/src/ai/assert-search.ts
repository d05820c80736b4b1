/** Checks the search option of a provider form, because JavaScript callers have no types. */
import { HostError } from '../errors.ts'

export function assertSearch(search: unknown, known: readonly string[]): void {
  if (known.some((name) => name === search)) return
  throw new HostError('invalid-input', {
    detail: `The search \`${String(search).slice(0, 100)}\` is not known.`,
    action: `Use one of: ${known.join(', ')}.`,
    errors: [{ path: 'search', message: `must be one of ${known.join(', ')}` }],
  })
}
