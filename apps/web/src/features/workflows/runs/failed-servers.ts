/** Servers that did not serve a run: those that its nodes name, and those that it would have done without. */
import type { Definition } from '../definition/definition.ts'

interface FailedServer {
  id: string
  reason: string
}

export function failedServers(
  failed: readonly FailedServer[],
  definition: Definition | undefined,
): { named: FailedServer[]; others: FailedServer[] } {
  // A program says nothing beforehand: any of them may be why it ended as it did.
  if (!definition) return { named: [...failed], others: [] }
  const names = namesIn(definition)
  return { named: failed.filter(({ id }) => names.has(id)), others: failed.filter(({ id }) => !names.has(id)) }
}

function namesIn({ nodes, brings = [] }: Definition): Set<string> {
  const refs = nodes.flatMap((node) => {
    if (node.type === 'tool') return [node.ref]
    return node.type === 'agent' || node.type === 'code' ? (node.tools ?? []) : []
  })
  return new Set([...refs, ...brings].map((ref) => ref.split('.', 1)[0] ?? ref))
}
