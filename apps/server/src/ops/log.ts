/**
 * Structured logs. Entries have the path, never query, headers or body, and the request id of the request that is
 * being served. Secret fields and API keys are redacted.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { HostError } from '@loadout/core'
import type { CallMeasurement } from '@loadout/core/services'
import { isSpanContextValid, trace } from '@opentelemetry/api'
import type { MiddlewareHandler } from 'hono'
import pino from 'pino'
import type { Env } from '../http/env.ts'

export interface Log extends Pick<pino.Logger, 'info' | 'warn' | 'error' | 'debug'> {
  /** Adds the fields to every entry that `work` writes. */
  within?<T>(fields: LogFields, work: () => T): T
}

export interface LogFields {
  requestId: string
  traceId?: string | undefined
}

export const silentLog: Log = pino({ level: 'silent' })

/** Writes errors to `console.error`, where a framework's own log shows them. */
export const errorLog = (): Log => createLog('error', { write: (entry) => console.error(entry.trimEnd()) })

const SECRET_FIELDS = new Set([
  'authorization',
  'cookie',
  'set-cookie',
  'token',
  'password',
  'secret',
  'secrets',
  'key',
  'apikey',
  'api_key',
  'headers',
  'env',
  'arguments',
  'content',
  'structuredcontent',
])
const REDACTED = '[redacted]'
const MAX_DEPTH = 8
const KEYS = /\blo_[A-Za-z0-9_-]{16,}|\bBearer\s+[^\s"\\]+/g

export function createLog(level: string, destination: pino.DestinationStream = pino.destination(2)): Log {
  const ambient = new AsyncLocalStorage<LogFields>()
  const logger = pino(
    {
      level,
      base: null,
      formatters: { log: (fields) => redactFields(fields, 0) },
      serializers: { err: plainError, cause: plainError },
      // A new object each time, because pino adds the entry's fields to it.
      mixin: () => ({ ...ambient.getStore() }),
      hooks: { streamWrite: (line) => line.replace(KEYS, REDACTED) },
    },
    destination,
  )
  return Object.assign(logger, { within: <T>(fields: LogFields, work: () => T) => ambient.run(fields, work) })
}

/** Redacts secret fields at any depth. pino's own redaction needs fixed paths and is about ten times slower. */
function redactFields(fields: Record<string, unknown>, depth: number): Record<string, unknown> {
  const redacted: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(fields))
    redacted[name] =
      value !== undefined && SECRET_FIELDS.has(name.toLowerCase()) ? REDACTED : redactValue(value, depth + 1)
  return redacted
}

function redactValue(value: unknown, depth: number): unknown {
  // Errors have their own serializer.
  if (typeof value !== 'object' || value === null || value instanceof Error || value instanceof Date) return value
  if (depth >= MAX_DEPTH) return REDACTED
  if (Array.isArray(value)) return value.map((item) => redactValue(item, depth + 1))
  return redactFields(value as Record<string, unknown>, depth)
}

// Messages of third-party errors can quote secrets, so only name, code and stack are logged.
function plainError(error: unknown): unknown {
  if (!(error instanceof Error)) return undefined
  const code = Reflect.get(error, 'code')
  // A `HostError` message contains no secrets.
  const messageField = HostError.is(error) ? { message: error.message } : {}
  return { name: error.name, ...(typeof code === 'string' ? { code } : {}), ...messageField, stack: frames(error) }
}

const frames = (error: Error) =>
  error.stack
    ?.split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 12)

const tenths = (ms: number) => Math.round(ms * 10) / 10

export function requestLog(log: Log): MiddlewareHandler<Env> {
  return (c, next) => {
    const start = performance.now()
    const requestId = c.get('requestId')
    const serve = async () => {
      await next()
      log.info({
        requestId,
        method: c.req.method,
        path: c.req.path,
        status: c.res.status,
        ms: tenths(performance.now() - start),
        userId: c.get('principal')?.userId,
      })
    }
    return log.within ? log.within({ requestId, ...traceIdOf(c.get('trace')) }, serve) : serve()
  }
}

function traceIdOf(at: Env['Variables']['trace']): { traceId?: string } {
  const span = at && trace.getSpanContext(at)
  return span && isSpanContextValid(span) ? { traceId: span.traceId } : {}
}

/** Logs every call with its outcome and duration, without its arguments. */
export const callLog =
  (log: Log) =>
  ({ ms, traceId, ...call }: CallMeasurement): void =>
    // Keeps the request's trace id if the call has none.
    log.info({ ...call, ...(traceId === undefined ? {} : { traceId }), ms: tenths(ms) }, 'call')
