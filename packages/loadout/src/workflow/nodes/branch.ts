/** A condition, decided once: the log keeps which way it went. */
import { attemptOf, keyOf, type LeafDeps, type NodeExecution } from '../run/node-context.ts'
import { type Attempt, render, requestOf } from '../run/node-result.ts'

export async function branchNode(parts: LeafDeps, { planned, place }: NodeExecution): Promise<Attempt> {
  const rendered = render(planned, 'when', place.values)
  if ('error' in rendered) return rendered
  const { value } = rendered
  if (typeof value !== 'boolean')
    return {
      error: {
        code: 'expression-failed',
        message: `Node '${planned.node.id}', when: must be true or false, and is ${JSON.stringify(value)?.slice(0, 60)}`,
      },
    }
  const answer = await parts.run.log.step(
    { place: place.place, key: await keyOf('branch', value), kind: 'branch', repeatable: true },
    {
      request: requestOf(planned, place, { when: value }),
      execute: async () => {
        parts.onRunning(planned)
        return { value }
      },
    },
  )
  return attemptOf(answer)
}
