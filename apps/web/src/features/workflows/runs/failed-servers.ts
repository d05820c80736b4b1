/** Splits failed servers of a run into those that its nodes use and others. */
import type { Definition } from '../definition/definition.ts'

interface FailedServer {
  id: string
  reason: string
}

export function failedServers(
  failed: readonly FailedServer[],
  definition: Definition | undefined,
): { named: FailedServer[]; others: FailedServer[] } {
  // A program does not declare its servers, so any of them may be the cause.
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
