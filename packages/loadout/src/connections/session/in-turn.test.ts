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
  const heard: string[] = []
  const hear = (message: JSONRPCMessage) => {
    if ('method' in message) void Promise.resolve().then(() => heard.push(`progress ${message.params?.progress}`))
    else if ('id' in message) heard.push(`answer ${message.id}`)
  }
  return { heard, hear }
}

const moments = () => new Promise((resolve) => setTimeout(resolve))

it('an answer is delivered after the notifications before it', async () => {
  const { heard, hear } = listener()
  const errors: Error[] = []
  const deliver = deliverInOrder(hear, (error) => void errors.push(error))
  for (const message of [notification(1), notification(2), answer(1), notification(3), answer(2)]) deliver(message)
  await moments()
  expect(heard).toEqual(['progress 1', 'progress 2', 'answer 1', 'progress 3', 'answer 2'])
  expect(errors).toEqual([])
})

it('an answer without earlier messages is delivered at once', async () => {
  const { heard, hear } = listener()
  const deliver = deliverInOrder(hear, () => {})
  deliver(answer(1))
  expect(heard).toEqual(['answer 1'])
  deliver(notification(1))
  await moments()
  deliver(answer(2))
  expect(heard).toEqual(['answer 1', 'progress 1', 'answer 2'])
})

it('a message that its listener rejects does not block the next message', async () => {
  const { heard, hear } = listener()
  const errors: string[] = []
  const deliver = deliverInOrder(
    (message) => {
      if ('id' in message && message.id === 1) throw new Error('no')
      hear(message)
    },
    ({ message }) => void errors.push(message),
  )
  for (const message of [notification(1), answer(1), answer(2)]) deliver(message)
  await moments()
  expect([heard, errors]).toEqual([['progress 1', 'answer 2'], ['no']])
})
