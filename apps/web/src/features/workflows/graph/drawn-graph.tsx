import '@xyflow/react/dist/base.css'
import '../graph.css'
import {
  Controls,
  type Edge as FlowEdge,
  type Node as FlowNode,
  Handle,
  MarkerType,
  type NodeProps,
  Position,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
  useStore,
} from '@xyflow/react'
import { CircleAlert } from 'lucide-react'
import { type KeyboardEvent, useEffect, useMemo, useRef } from 'react'
import { cn } from '../../../ui/cn.ts'
import type { WorkflowNode } from '../definition/definition.ts'
import { nextTo } from '../editor/next-node.ts'
import { describeNode, KIND_STYLES, nameOf } from '../editor/node-kind.tsx'
import { type NodeState, nodeStyle } from '../runs/run-state.tsx'
import { type EdgeKind, edgesOf } from './graph.ts'
import { layoutPositions, NODE_HEIGHT, NODE_WIDTH } from './graph-layout.ts'
import type { GraphViewProps } from './graph-props.ts'

type FlowGraphNode = FlowNode<{
  node: WorkflowNode
  isSelected: boolean
  isWrong: boolean
  state: NodeState | undefined
  onSelect: (id: string) => void
}>

const TYPES = { shown: GraphNode }
const EDGE_LABELS: Record<EdgeKind, string | undefined> = {
  after: undefined,
  true: 'if true',
  false: 'if false',
  each: 'each item',
  instead: 'if it fails',
}

export function DrawnGraph(props: GraphViewProps) {
  return (
    <ReactFlowProvider>
      <Flow {...props} />
    </ReactFlowProvider>
  )
}

function Flow({ definition, selected, onSelect, wrong, states }: GraphViewProps) {
  const container = useRef<HTMLElement>(null)
  const positions = useMemo(() => layoutPositions(definition), [definition])
  const nodes = definition.nodes.map(
    (node): FlowGraphNode => ({
      id: node.id,
      type: 'shown',
      position: positions.get(node.id) ?? { x: 0, y: 0 },
      width: NODE_WIDTH,
      height: NODE_HEIGHT,
      data: {
        node,
        onSelect,
        isSelected: selected === node.id,
        isWrong: wrong?.has(node.id) ?? false,
        state: states?.get(node.id),
      },
    }),
  )
  useFitting(definition.nodes.map(({ id }) => id).join(' '))
  const move = (event: KeyboardEvent) => {
    const from = (event.target as HTMLElement).closest<HTMLElement>('[data-graph-node]')?.dataset.graphNode
    const to = from === undefined ? undefined : nextTo(positions, from, event.key)
    if (to === undefined) return
    event.preventDefault()
    container.current?.querySelector<HTMLElement>(`[data-graph-node="${to}"]`)?.focus()
  }
  return (
    <section
      ref={container}
      aria-label="Graph of the workflow. Arrow keys move between nodes, Enter chooses one."
      onKeyDown={move}
      className="h-full"
    >
      <ReactFlow
        nodes={nodes}
        edges={flowEdges(definition)}
        nodeTypes={TYPES}
        fitView
        minZoom={0.2}
        maxZoom={1.5}
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        elementsSelectable={false}
        zoomOnScroll={false}
        preventScrolling={false}
        deleteKeyCode={null}
        proOptions={{ hideAttribution: true }}
        onNodeClick={(_, { id }) => onSelect(id)}
      >
        <Controls showInteractive={false} position="top-right" orientation="horizontal" />
      </ReactFlow>
    </section>
  )
}

/** Fits the view when nodes or the container size change. */
function useFitting(ids: string): void {
  const { fitView } = useReactFlow()
  const size = useStore(({ width, height }) => `${width} ${height}`)
  useEffect(() => {
    if (ids !== '' && size !== '0 0') void fitView({ padding: 0.12, maxZoom: 1 })
  }, [ids, size, fitView])
}

const flowEdges = (definition: GraphViewProps['definition']): FlowEdge[] =>
  edgesOf(definition).map(({ from, to, kind }) => ({
    id: `${from} ${to} ${kind}`,
    source: from,
    target: to,
    label: EDGE_LABELS[kind],
    className: kind === 'each' || kind === 'instead' ? 'held-edge' : undefined,
    markerEnd: { type: MarkerType.ArrowClosed, color: 'var(--line-strong)', width: 16, height: 16 },
  }))

function GraphNode({ data: { node, isSelected, isWrong, state, onSelect } }: NodeProps<FlowGraphNode>) {
  const { icon: Icon, label } = KIND_STYLES[node.type]
  const look = state ? nodeStyle(state) : undefined
  const StateIcon = look?.icon
  return (
    <>
      <Handle type="target" position={Position.Left} isConnectable={false} className="invisible" />
      <button
        type="button"
        data-graph-node={node.id}
        data-status={state}
        aria-pressed={isSelected}
        aria-label={[label, nameOf(node), look?.label, isWrong && 'has problems'].filter(Boolean).join(', ')}
        onClick={(event) => {
          event.stopPropagation()
          onSelect(node.id)
        }}
        className={cn(
          'nopan flex h-full w-full items-center gap-2.5 rounded-xl border bg-raised px-3 text-left shadow-flat transition-colors hover:border-line-strong',
          look?.className,
          isWrong && 'border-bad',
          isSelected && 'border-accent inset-ring inset-ring-accent',
        )}
      >
        <Icon aria-hidden className="size-4 shrink-0 opacity-70" strokeWidth={1.75} />
        <span className="grid min-w-0 flex-1">
          <span className="truncate text-[0.8125rem] font-medium text-ink">{nameOf(node)}</span>
          <span className="truncate text-xs text-ink-muted">{look?.label ?? describeNode(node)}</span>
        </span>
        {StateIcon && (
          <StateIcon aria-hidden className={cn('size-4 shrink-0', state === 'running' && 'motion-safe:animate-spin')} />
        )}
        {isWrong && <CircleAlert aria-hidden className="size-4 shrink-0 text-bad" />}
      </button>
      <Handle type="source" position={Position.Right} isConnectable={false} className="invisible" />
    </>
  )
}
