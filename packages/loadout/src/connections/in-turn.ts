/**
 * The SDK hears a notification a moment after it is delivered, and an answer at once. An answer that came right behind progress,
 * in the same chunk of a pipe or a stream, would overtake it, and the progress would be lost. Here whatever follows a
 * notification waits for that moment; everything else is delivered at once.
 */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'

type Deliver = NonNullable<Transport['onmessage']>

export function inTurn(deliver: Deliver, onError: (error: Error) => void): Deliver {
  let waiting: Array<Parameters<Deliver>> | undefined
  const drain = async () => {
    const queue: Array<Parameters<Deliver>> = []
    waiting = queue
    await undefined
    for (const [message, extra] of queue) {
      try {
        deliver(message, extra)
      } catch (error) {
        onError(error as Error)
      }
      await undefined
    }
    waiting = undefined
  }
  return (message, extra) => {
    if (waiting) return void waiting.push([message, extra])
    deliver(message, extra)
    if (isNotification(message)) void drain()
  }
}

const isNotification = (message: JSONRPCMessage) => 'method' in message && !('id' in message)
