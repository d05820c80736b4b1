/** Agent nodes that ask for more than the operator allows one answer: they run, within what is allowed, and it is told before. */
import type { AgentCeiling } from './agent.ts'
import type { Plan } from './plan.ts'

const WORDS = { maxSteps: 'steps', budget: 'tokens' } as const

/** By node and field, with what will hold. */
export function overCeiling({ nodes }: Plan, ceiling: AgentCeiling): string[] {
  return [...nodes.values()].flatMap(({ node, index }) => {
    if (node.type !== 'agent') return []
    return (['maxSteps', 'budget'] as const).flatMap((field) => {
      const [asked, most] = [node[field], ceiling[field]]
      if (asked === undefined || most === undefined || asked <= most) return []
      const place = `Node '${node.id}' (nodes.${index}.${field})`
      return [
        `${place} asks for ${asked} ${WORDS[field]}, and the operator allows an answer ${most}: ${most} will hold.`,
      ]
    })
  })
}
