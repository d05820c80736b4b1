/** Maps database errors to `HostError` by SQLSTATE and constraint name, never by text. */
import { DrizzleQueryError } from 'drizzle-orm'
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
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  '25P03',
  '53300',
  '57P01',
  '57P02',
  '57P03',
  '57P05',
])

/** Maps a failed statement. Other errors, such as one thrown by the caller's work, stay unchanged. */
export function fromDatabase(thrown: unknown): unknown {
  if (HostError.is(thrown) || !isOfStatement(thrown)) return thrown
  const error = databaseError(thrown)
  // Server errors have a code. Without one the driver got no response; a TypeError is a bug.
  if (!error)
    return thrown.cause instanceof TypeError ? new HostError('internal', { cause: thrown.cause }) : unavailable(thrown)
  return fromCode(error)
}

/** Maps a failed connect: its code tells whether the address, the login or the database is wrong. */
export function fromConnecting(thrown: unknown): unknown {
  if (HostError.is(thrown)) return thrown
  const code = databaseError(thrown)?.code
  const wrong = wrongWith(code)
  if (!wrong) return unavailable(thrown)
  return new HostError('config-invalid', { detail: `DATABASE_URL: ${wrong}.`, cause: causeOf({ code: String(code) }) })
}

function wrongWith(code = ''): string | undefined {
  if (code === 'ERR_INVALID_URL') return 'it is not a postgres:// URL'
  if (code === '3D000') return 'there is no such database on that server'
  return code.startsWith('28') ? 'the server refuses its user or password' : undefined
}

export function fromMigrating(thrown: unknown): unknown {
  const error = HostError.is(thrown) ? undefined : databaseError(thrown)
  if (error?.code !== '42501') return fromDatabase(thrown)
  return new HostError('config-invalid', {
    detail: 'DATABASE_URL: its role may not make the roles, schema and policies that keep users apart.',
    action:
      'Let that role own its database and create roles, or make the roles for it as docs/reference/configuration.md says.',
    cause: causeOf(error),
  })
}

function unavailable(thrown: unknown): HostError {
  const error = databaseError(thrown)
  // Without a code the message only concerns the connection and contains no row value.
  const { message } = (thrown instanceof DrizzleQueryError ? thrown.cause : thrown) as Error
  return new HostError('storage-unavailable', { cause: error ? causeOf(error) : new Error(message) })
}

function fromCode(error: DatabaseError): HostError {
  const cause = causeOf(error)
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
      return new HostError('invalid-row', { detail: `A row of "${error.table ?? '?'}" is not valid.`, cause })
  }
  // Class 22: a value that its column cannot store, such as a NUL (22021, 22P05) or a number too large (22003).
  if (error.code.startsWith('22')) return new HostError('invalid-row', { detail: 'A row is not valid.', cause })
  if (UNREACHABLE.has(error.code) || error.code.startsWith('08')) return new HostError('storage-unavailable', { cause })
  return new HostError('internal', { cause })
}

// The driver's error text contains the row, so only the code and constraint are kept.
const causeOf = ({ code, constraint }: DatabaseError) =>
  new Error(`SQLSTATE ${code}${constraint ? ` (${constraint})` : ''}`)

/** Drizzle wraps statement errors; `severity` marks an error of the server itself. */
const isOfStatement = (thrown: unknown): thrown is Error =>
  thrown instanceof DrizzleQueryError || (thrown instanceof Error && 'severity' in thrown)

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
