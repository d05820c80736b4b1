/**
 * The SDK checks every result of the new era against the whole schema, so that one malformed tool fails a list and one
 * unknown kind of content fails a call. Here the parts that servers get wrong are carried past that check: the SDK sees an
 * empty list with the server's own words in its `_meta`, and `unwrapResult` takes them out again. Of resources it sees what is
 * whole, because it reads the files of skills itself. And messages reach it in their turn.
 */

import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import type { JsonObject } from '../../schema/json.ts'

const AS_SENT = 'loadout/as-sent'
const BYPASSED_FIELDS = [
  'tools',
  'content',
  'contents',
  'resources',
  'resourceTemplates',
  'prompts',
  'messages',
] as const

export function lenient<T extends Transport>(transport: T): T {
  let handler: Transport['onmessage']
  Object.defineProperty(transport, 'onmessage', {
    configurable: true,
    get: () => handler,
    set(next: Transport['onmessage']) {
      handler =
        next &&
        deliverInOrder(
          (message, extra) => next(bypassValidation(message) as typeof message, extra),
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

function bypassValidation(message: JSONRPCMessage): JSONRPCMessage {
  const result = (message as { result?: unknown }).result as JsonObject | undefined
  if (typeof result !== 'object' || result === null) return message
  const field = bypassedField(result)
  // What asks for input, or was wrapped already, passes as it is.
  if (field === undefined || result.resultType === 'input_required' || isWrapped(result)) return message
  const { nextCursor, ttlMs, cacheScope } = result
  const wrapper: JsonObject = {
    resultType: 'complete',
    [field]: field === 'contents' ? (result.contents as unknown[]).filter(isValidContents) : [],
    ttlMs: typeof ttlMs === 'number' ? ttlMs : 0,
    cacheScope: cacheScope === 'public' ? 'public' : 'private',
    _meta: { [AS_SENT]: result },
  }
  if (nextCursor !== undefined) wrapper.nextCursor = nextCursor
  return { ...message, result: wrapper } as JSONRPCMessage
}

function bypassedField(result: JsonObject): string | undefined {
  for (const name of BYPASSED_FIELDS) if (Array.isArray(result[name])) return name
  return undefined
}

/** In pieces that need no stack: a server chooses how long it is. */
const isBase64 = (text: string) =>
  text.length % 4 === 0 && !/[^A-Za-z0-9+/=]/.test(text) && !/=[^=]/.test(text) && !text.endsWith('===')

function isValidContents(item: unknown): item is JsonObject {
  if (typeof item !== 'object' || item === null) return false
  const { uri, text, blob, mimeType, _meta } = item as JsonObject
  const isBlob = text === undefined && typeof blob === 'string' && isBase64(blob)
  return (
    typeof uri === 'string' &&
    (typeof text === 'string' || isBlob) &&
    (mimeType === undefined || typeof mimeType === 'string') &&
    (_meta === undefined || (typeof _meta === 'object' && _meta !== null))
  )
}

const isWrapped = (result: JsonObject) => (result._meta as JsonObject | undefined)?.[AS_SENT] !== undefined

/**
 * The SDK hears a notification a moment after it is delivered, and an answer at once. An answer that came right behind progress,
 * in the same chunk of a pipe or a stream, would overtake it, and the progress would be lost. Here whatever follows a
 * notification waits for that moment; everything else is delivered at once.
 */
type Deliver = NonNullable<Transport['onmessage']>

export function deliverInOrder(deliver: Deliver, onError: (error: Error) => void): Deliver {
  let queued: Array<Parameters<Deliver>> | undefined
  const drain = async () => {
    const queue: Array<Parameters<Deliver>> = []
    queued = queue
    await undefined
    for (const [message, extra] of queue) {
      try {
        deliver(message, extra)
      } catch (error) {
        onError(error as Error)
      }
      await undefined
    }
    queued = undefined
  }
  return (message, extra) => {
    if (queued) return void queued.push([message, extra])
    deliver(message, extra)
    if (isNotification(message)) void drain()
  }
}

const isNotification = (message: JSONRPCMessage) => 'method' in message && !('id' in message)
