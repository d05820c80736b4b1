import type { Definition } from '../definition/definition.ts'
import type { NodeState } from '../runs/run-state.tsx'

/** Props of the graph. */
export interface GraphViewProps {
  definition: Definition
  selected: string | undefined
  onSelect: (id: string) => void
  /** Nodes with problems, by id. */
  wrong?: ReadonlySet<string>
  states?: ReadonlyMap<string, NodeState>
}
