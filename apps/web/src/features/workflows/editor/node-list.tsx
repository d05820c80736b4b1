import { ArrowDown, ArrowUp, CircleAlert, Copy, Ellipsis, Plus, SlidersHorizontal, Trash2 } from 'lucide-react'
import { cn } from '../../../ui/cn.ts'
import { Button } from '../../../ui/form/button.tsx'
import { Menu, MenuContent, MenuItem, MenuTrigger } from '../../../ui/overlay/menu.tsx'
import { NODE_KINDS, type NodeKind, type WorkflowNode } from '../definition/definition.ts'
import { ofNode, ofWorkflow } from '../definition/problems.ts'
import { nodeOwners } from '../graph/graph.ts'
import { describeNode, KIND_STYLES, nameOf } from './node-kind.tsx'
import type { Editor } from './use-editor.ts'

export interface ListActions {
  onSelect: (id: string | undefined) => void
  onAdd: (kind: NodeKind) => void
  onMove: (id: string, by: -1 | 1) => void
  onDuplicate: (id: string) => void
  onRemove: (id: string) => void
}

export const nodeButton = (id: string): string => `node-${id}`
export const ADD_NODE = 'add-node'

/** Nodes as a list: the accessible form of the graph. */
export function NodeList({
  editor,
  selected,
  actions,
}: {
  editor: Editor
  selected: string | undefined
  actions: ListActions
}) {
  const { definition, problems } = editor
  const owners = nodeOwners(definition)
  const own = ofWorkflow(problems).length
  return (
    <nav aria-label="Nodes" className="grid content-start gap-2">
      <ul className="grid gap-1.5">
        <li>
          <Choice isChosen={selected === undefined} onClick={() => actions.onSelect(undefined)}>
            <SlidersHorizontal aria-hidden className="size-4 shrink-0 text-ink-muted" strokeWidth={1.75} />
            <NodeText name="Workflow" summary="Name, inputs, output" />
            <Count of={own} />
          </Choice>
        </li>
      </ul>
      <ol className="grid gap-1.5" aria-label="Nodes in their order">
        {definition.nodes.map((node, index) => (
          <li key={node.id} className="flex items-stretch gap-1">
            <Choice id={nodeButton(node.id)} isChosen={selected === node.id} onClick={() => actions.onSelect(node.id)}>
              <KindIcon node={node} />
              <NodeText
                name={nameOf(node)}
                summary={[orderOf(node, owners), describeNode(node)].filter(Boolean).join(' · ')}
              />
              <Count of={ofNode(problems, index).length} />
            </Choice>
            <NodeMenu
              node={node}
              isFirst={index === 0}
              isLast={index === definition.nodes.length - 1}
              actions={actions}
            />
          </li>
        ))}
      </ol>
      {definition.nodes.length === 0 && (
        <p className="rounded-xl border border-dashed px-4 py-3 text-sm text-ink-muted">
          No nodes yet. Add the first: a tool of one of your servers, for example.
        </p>
      )}
      <AddMenu onAdd={actions.onAdd} />
    </nav>
  )
}

/** Order of a node, if it is defined. */
function orderOf({ id, after = [] }: WorkflowNode, owners: ReadonlyMap<string, string>): string | undefined {
  if (owners.has(id)) return `Run by ${owners.get(id)}`
  return after.length > 0 ? `After ${after.join(', ')}` : undefined
}

function Choice({
  id,
  isChosen,
  onClick,
  children,
}: {
  id?: string
  isChosen: boolean
  onClick: () => void
  children: React.ReactNode
}) {
  return (
    <button
      id={id}
      type="button"
      aria-current={isChosen ? 'true' : undefined}
      onClick={onClick}
      className={cn(
        'flex w-full min-w-0 items-center gap-2.5 rounded-lg border px-3 py-2 text-left transition-colors',
        isChosen
          ? 'border-accent bg-accent-soft inset-ring inset-ring-accent'
          : 'border-line bg-surface hover:border-line-strong',
      )}
    >
      {children}
    </button>
  )
}

function KindIcon({ node: { type } }: { node: WorkflowNode }) {
  const { icon: Icon, label } = KIND_STYLES[type]
  return (
    <>
      <Icon aria-hidden className="size-4 shrink-0 text-ink-muted" strokeWidth={1.75} />
      <span className="sr-only">{label}:</span>
    </>
  )
}

const NodeText = ({ name, summary }: { name: string; summary: string }) => (
  <span className="grid min-w-0 flex-1">
    <span className="truncate text-sm font-medium">{name}</span>
    <span className="truncate text-xs text-ink-muted">{summary}</span>
  </span>
)

function Count({ of }: { of: number }) {
  if (of === 0) return null
  return (
    <span className="flex shrink-0 items-center gap-1 text-xs font-medium text-bad">
      <CircleAlert aria-hidden className="size-3.5" />
      {of}
      <span className="sr-only">{of === 1 ? 'problem' : 'problems'}</span>
    </span>
  )
}

interface NodeMenuProps {
  node: WorkflowNode
  isFirst: boolean
  isLast: boolean
  actions: ListActions
}

function NodeMenu({ node: { id }, isFirst, isLast, actions }: NodeMenuProps) {
  return (
    <Menu>
      <MenuTrigger asChild>
        <Button
          variant="quiet"
          size="icon"
          aria-label={`Actions for node ${id}`}
          className="h-auto w-8 data-[state=open]:bg-sunken"
        >
          <Ellipsis aria-hidden />
        </Button>
      </MenuTrigger>
      <MenuContent>
        <MenuItem disabled={isFirst} onSelect={() => actions.onMove(id, -1)}>
          <ArrowUp aria-hidden /> Move up
        </MenuItem>
        <MenuItem disabled={isLast} onSelect={() => actions.onMove(id, 1)}>
          <ArrowDown aria-hidden /> Move down
        </MenuItem>
        <MenuItem onSelect={() => actions.onDuplicate(id)}>
          <Copy aria-hidden /> Duplicate
        </MenuItem>
        <MenuItem danger onSelect={() => actions.onRemove(id)}>
          <Trash2 aria-hidden /> Remove
        </MenuItem>
      </MenuContent>
    </Menu>
  )
}

function AddMenu({ onAdd }: { onAdd: (kind: NodeKind) => void }) {
  return (
    <Menu>
      <MenuTrigger asChild>
        <Button id={ADD_NODE}>
          <Plus aria-hidden /> Add node
        </Button>
      </MenuTrigger>
      <MenuContent align="start" className="w-72">
        {NODE_KINDS.map((kind) => {
          const { icon: Icon, label, text } = KIND_STYLES[kind]
          return (
            <MenuItem key={kind} onSelect={() => onAdd(kind)} className="h-auto py-2">
              <Icon aria-hidden />
              <span className="grid">
                <span className="font-medium">{label}</span>
                <span className="text-xs text-ink-muted">{text}</span>
              </span>
            </MenuItem>
          )
        })}
      </MenuContent>
    </Menu>
  )
}
