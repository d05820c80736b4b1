import { getRouteApi } from '@tanstack/react-router'
import { moveNode, newNode } from '../definition/definition.ts'
import { GraphView } from '../graph/graph-view.tsx'
import { useTools } from '../use-tools.ts'
import { NodeForm } from './node-form.tsx'
import { ADD_NODE, type ListActions, NodeList, nodeButton } from './node-list.tsx'
import { addBelow, duplicateBelow, removeInOrder } from './node-order.ts'
import type { Editor } from './use-editor.ts'
import { WorkflowForm } from './workflow-form.tsx'

const route = getRouteApi('/shell/workflows/$id')

const FORM = 'node-form'

/** Scrolls to the form if it is below the list. */
function showForm(): void {
  if (window.matchMedia('(min-width: 64rem)').matches) return
  requestAnimationFrame(() => document.getElementById(FORM)?.scrollIntoView({ block: 'start' }))
}

/** Graph, node list and form of the selected node. */
export function BuildView({ editor }: { editor: Editor }) {
  const { node: requestedNode } = route.useSearch()
  const navigate = route.useNavigate()
  const tools = useTools()
  const { definition, problems } = editor
  const chosen = definition.nodes.find(({ id }) => id === requestedNode)
  const select = (id: string | undefined, replace = false) => {
    navigate({ search: (old) => ({ ...old, node: id }), resetScroll: false, replace })
    showForm()
  }
  const wrong = new Set(
    problems.flatMap(({ path }) => definition.nodes[Number(/^nodes\.(\d+)/.exec(path)?.[1] ?? -1)]?.id ?? []),
  )
  return (
    <div className="grid gap-5">
      <GraphView definition={definition} selected={chosen?.id} onSelect={(id) => select(id)} wrong={wrong} />
      <div className="grid items-start gap-5 lg:grid-cols-[20rem_minmax(0,1fr)]">
        <NodeList editor={editor} selected={chosen?.id} actions={actionsOf(editor, chosen?.id, select)} />
        <div id={FORM} className="min-w-0 scroll-mt-20">
          {chosen ? (
            <NodeForm key={chosen.id} editor={editor} node={chosen} tools={tools} onRename={(id) => select(id, true)} />
          ) : (
            <WorkflowForm editor={editor} />
          )}
        </div>
      </div>
    </div>
  )
}

function actionsOf(
  { definition, change }: Editor,
  chosen: string | undefined,
  select: (id: string | undefined, replace?: boolean) => void,
): ListActions {
  return {
    onSelect: (id) => select(id),
    onAdd: (kind) => {
      const node = newNode(definition, kind)
      change(addBelow(definition, node, chosen))
      select(node.id)
      focusLater(nodeButton(node.id))
    },
    onMove: (id, by) => change(moveNode(definition, id, by)),
    onDuplicate: (id) => {
      const copied = duplicateBelow(definition, id)
      change(copied.definition)
      select(copied.id)
    },
    onRemove: (id) => {
      const index = definition.nodes.findIndex((node) => node.id === id)
      const near = definition.nodes[index + 1] ?? definition.nodes[index - 1]
      change(removeInOrder(definition, id))
      if (chosen === id) select(near?.id, true)
      focusLater(near ? nodeButton(near.id) : ADD_NODE)
    },
  }
}

// The menu restores its focus first.
const focusLater = (id: string) => window.setTimeout(() => document.getElementById(id)?.focus(), 50)
