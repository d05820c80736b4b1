/**
 * The SDK checks every result of the new era against the whole schema, so that one malformed tool fails a list and one
 * unknown kind of content fails a call. Here the parts that servers get wrong are carried past that check: the SDK sees an
 * empty list with the server's own words in its `_meta`, and `unwrapResult` takes them out again. And messages reach it in
 * their turn.
 */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import type { JsonObject } from '../schema/json.ts'
import { inTurn } from './in-turn.ts'

const AS_SENT = 'loadout/as-sent'
const CARRIED = ['tools', 'content', 'contents', 'resources', 'resourceTemplates', 'prompts', 'messages'] as const

export function tolerate<T extends Transport>(transport: T): T {
  let handler: Transport['onmessage']
  Object.defineProperty(transport, 'onmessage', {
    configurable: true,
    get: () => handler,
    set(next: Transport['onmessage']) {
      handler =
        next &&
        inTurn(
          (message, extra) => next(carry(message) as typeof message, extra),
          (error) => transport.onerror?.(error),
        )
    },
  })
  return transport
}

/** The result as the server sent it. */
export function unwrapResult(result: JsonObject): JsonObject {
  const sent = (result._meta as JsonObject | undefined)?.[AS_SENT]
  return (sent as JsonObject | undefined) ?? result
}

function carry(message: JSONRPCMessage): JSONRPCMessage {
  const result = (message as { result?: unknown }).result as JsonObject | undefined
  if (typeof result !== 'object' || result === null) return message
  const part = partOf(result)
  // What asks for input, or was wrapped already, passes as it is.
  if (part === undefined || result.resultType === 'input_required' || isWrapped(result)) return message
  const { nextCursor, ttlMs, cacheScope } = result
  const carrier: JsonObject = {
    resultType: 'complete',
    [part]: [],
    ttlMs: typeof ttlMs === 'number' ? ttlMs : 0,
    cacheScope: cacheScope === 'public' ? 'public' : 'private',
    _meta: { [AS_SENT]: result },
  }
  if (nextCursor !== undefined) carrier.nextCursor = nextCursor
  return { ...message, result: carrier } as JSONRPCMessage
}

function partOf(result: JsonObject): string | undefined {
  for (const name of CARRIED) if (Array.isArray(result[name])) return name
  return undefined
}

const isWrapped = (result: JsonObject) => (result._meta as JsonObject | undefined)?.[AS_SENT] !== undefined
