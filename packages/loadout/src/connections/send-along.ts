/** The requests of the handshake are the SDK's own: what goes along with them is put in on their way out. */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import type { JsonObject } from '../schema/json.ts'

/** Until it is stopped. What the SDK itself says in `_meta` is left as it is. */
export function sendAlong(transport: Transport, meta: Readonly<Record<string, string>>): () => void {
  const own = Object.getOwnPropertyDescriptor(transport, 'send')
  const send = transport.send
  transport.send = (message, options) => send.call(transport, withMeta(message, meta), options)
  return () => {
    if (own) Object.defineProperty(transport, 'send', own)
    else Reflect.deleteProperty(transport, 'send')
  }
}

function withMeta(message: JSONRPCMessage, meta: Readonly<Record<string, string>>): JSONRPCMessage {
  if (!('method' in message && 'id' in message)) return message
  const params = (message.params ?? {}) as JsonObject
  return {
    ...message,
    params: { ...params, _meta: { ...meta, ...(params._meta as JsonObject | undefined) } },
  } as JSONRPCMessage
}
