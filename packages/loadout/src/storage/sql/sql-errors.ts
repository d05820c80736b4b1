/** What the database refused, as our errors: by SQLSTATE and constraint name, never by text. */
import { HostError } from '../../errors.ts'

interface DatabaseError {
  code: string
  constraint?: string
  table?: string
}

const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  '53300',
  '57P01',
  '57P02',
  '57P03',
])

export function fromDatabase(thrown: unknown): unknown {
  if (HostError.is(thrown)) return thrown
  const error = databaseError(thrown)
  if (!error) return thrown
  // The driver's own error holds the row in its text; only what cannot hold a value is kept.
  const cause = new Error(`SQLSTATE ${error.code}${error.constraint ? ` (${error.constraint})` : ''}`)
  switch (error.code) {
    case '23505': {
      const fields = fieldsOf(error.constraint)
      return new HostError('conflict', {
        detail: `A row of "${error.table ?? '?'}" with the same ${fields.join(' and ')} is already there.`,
        errors: fields.map((path) => ({ path, message: 'is already taken' })),
        cause,
      })
    }
    case '23503':
      return new HostError('not-found', {
        detail: `The row that this row of "${error.table ?? '?'}" belongs to is not there.`,
        cause,
      })
    case '42501':
      return new HostError('forbidden', { detail: 'The row belongs to another, or may only be read.', cause })
    case '23514':
    case '23502':
    case '22P02':
    case '22P05':
      return new HostError('invalid-row', { detail: `A row of "${error.table ?? '?'}" is not valid.`, cause })
  }
  if (UNREACHABLE.has(error.code) || error.code.startsWith('08')) return new HostError('storage-unavailable', { cause })
  return new HostError('internal', { cause })
}

function databaseError(thrown: unknown): DatabaseError | undefined {
  for (let error = thrown; typeof error === 'object' && error !== null; error = (error as { cause?: unknown }).cause)
    if (typeof (error as { code?: unknown }).code === 'string') return error as DatabaseError
  return undefined
}

// `user_server_configs__user_id__name` → name
function fieldsOf(constraint = ''): string[] {
  const fields = constraint
    .split('__')
    .slice(1)
    .filter((name) => name !== 'user_id')
  return fields.length > 0 ? fields.map(camelCase) : ['id']
}

const camelCase = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
