/**
 * Bypasses the SDK's result validation, in which one malformed tool fails a list and one unknown content type fails a
 * call. The SDK sees an empty list with the original result in its `_meta`, and `unwrapResult` restores it. Valid
 * resource contents are kept, because the SDK reads skill files itself. Messages are delivered in order.
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

/** Returns the result as the server sent it. */
export function unwrapResult(result: JsonObject): JsonObject {
  const sent = (result._meta as JsonObject | undefined)?.[AS_SENT]
  return (sent as JsonObject | undefined) ?? result
}

function bypassValidation(message: JSONRPCMessage): JSONRPCMessage {
  const result = (message as { result?: unknown }).result as JsonObject | undefined
  if (typeof result !== 'object' || result === null) return message
  const field = bypassedField(result)
  // Input requests and wrapped results pass unchanged.
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

/** Linear checks, because the server chooses the length. */
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
 * The SDK handles a notification one microtask after delivery and a response at once, so a response in the same chunk
 * would overtake progress and drop it. Here messages after a notification wait for that microtask.
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
