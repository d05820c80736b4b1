/** Branch node: evaluates its condition once and stores the result. */
import { attemptOf, type NodeDeps, type NodeExecution, stepKeyOf } from '../run/node-context.ts'
import { type Attempt, nodeRequest, render } from '../run/node-result.ts'

export async function runBranchNode(deps: NodeDeps, { planned, scope }: NodeExecution): Promise<Attempt> {
  const rendered = render(planned, 'when', scope.values)
  if ('error' in rendered) return rendered
  const { value } = rendered
  if (typeof value !== 'boolean')
    return {
      error: {
        code: 'expression-failed',
        message: `Node '${planned.node.id}', when: must be true or false, and is ${JSON.stringify(value)?.slice(0, 60)}`,
      },
    }
  const answer = await deps.run.log.step(
    { path: scope.path, key: await stepKeyOf('branch', value), kind: 'branch', repeatable: true },
    {
      request: nodeRequest(planned, scope, { when: value }),
      execute: async () => {
        deps.onRunning(planned)
        return { value }
      },
    },
  )
  return attemptOf(answer)
}
