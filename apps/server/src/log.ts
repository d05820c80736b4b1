/** Structured logs. A line has the path and never the query, headers or body: those are where secrets travel. */
import type { MiddlewareHandler } from 'hono'
import { HostError } from 'loadout'
import pino from 'pino'
import type { Env } from './variables.ts'

export type Log = Pick<pino.Logger, 'info' | 'warn' | 'error' | 'debug'>

export const silentLog: Log = pino({ level: 'silent' })

const SECRET_FIELDS = ['authorization', 'cookie', 'token', 'password', 'secret', 'key', 'headers', 'env']

export function createLog(level: string, destination: pino.DestinationStream = pino.destination(2)): Log {
  return pino(
    {
      level,
      base: null,
      redact: { paths: [...SECRET_FIELDS, ...SECRET_FIELDS.map((field) => `*.${field}`)], censor: '[redacted]' },
      serializers: { err: plainError, cause: plainError },
    },
    destination,
  )
}

// Messages of foreign errors can quote what they failed on; their kind and place are enough to find them.
function plainError(error: unknown): unknown {
  if (!(error instanceof Error)) return undefined
  const code = Reflect.get(error, 'code')
  // Our own errors are written without secrets; their words may be kept.
  const words = HostError.is(error) ? { message: error.message } : {}
  return { name: error.name, ...(typeof code === 'string' ? { code } : {}), ...words, stack: frames(error) }
}

const frames = (error: Error) =>
  error.stack
    ?.split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 12)

export function requestLog(log: Log): MiddlewareHandler<Env> {
  return async (c, next) => {
    const start = performance.now()
    await next()
    log.info({
      requestId: c.get('requestId'),
      method: c.req.method,
      path: c.req.path,
      status: c.res.status,
      ms: Math.round((performance.now() - start) * 10) / 10,
      userId: c.get('principal')?.userId,
    })
  }
}
