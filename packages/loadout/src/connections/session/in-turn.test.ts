import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { expect, it } from 'vitest'
import { deliverInOrder } from './lenient-transport.ts'

const notification = (progress: number): JSONRPCMessage => ({
  jsonrpc: '2.0',
  method: 'notifications/progress',
  params: { progressToken: 1, progress },
})
const answer = (id: number): JSONRPCMessage => ({ jsonrpc: '2.0', id, result: {} })

/** As the SDK: an answer at once, a notification a moment later. */
function listener() {
  const delivered: string[] = []
  const receive = (message: JSONRPCMessage) => {
    if ('method' in message) void Promise.resolve().then(() => delivered.push(`progress ${message.params?.progress}`))
    else if ('id' in message) delivered.push(`answer ${message.id}`)
  }
  return { delivered, receive }
}

const moments = () => new Promise((resolve) => setTimeout(resolve))

it('an answer is delivered after the notifications before it', async () => {
  const { delivered, receive } = listener()
  const errors: Error[] = []
  const deliver = deliverInOrder(receive, (error) => void errors.push(error))
  for (const message of [notification(1), notification(2), answer(1), notification(3), answer(2)]) deliver(message)
  await moments()
  expect(delivered).toEqual(['progress 1', 'progress 2', 'answer 1', 'progress 3', 'answer 2'])
  expect(errors).toEqual([])
})

it('an answer without earlier messages is delivered at once', async () => {
  const { delivered, receive } = listener()
  const deliver = deliverInOrder(receive, () => {})
  deliver(answer(1))
  expect(delivered).toEqual(['answer 1'])
  deliver(notification(1))
  await moments()
  deliver(answer(2))
  expect(delivered).toEqual(['answer 1', 'progress 1', 'answer 2'])
})

it('a message that its listener rejects does not block the next message', async () => {
  const { delivered, receive } = listener()
  const errors: string[] = []
  const deliver = deliverInOrder(
    (message) => {
      if ('id' in message && message.id === 1) throw new Error('no')
      receive(message)
    },
    ({ message }) => void errors.push(message),
  )
  for (const message of [notification(1), answer(1), answer(2)]) deliver(message)
  await moments()
  expect([delivered, errors]).toEqual([['progress 1', 'answer 2'], ['no']])
})
