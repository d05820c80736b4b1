import { useState } from 'react'
import { Card } from '../../../ui/data/card.tsx'
import { Field, FieldError } from '../../../ui/form/field.tsx'
import { Input } from '../../../ui/form/input.tsx'
import { type Definition, renameNode, type WorkflowNode } from '../definition/definition.ts'
import { atField, notAt, ofNode, sentenceOf } from '../definition/problems.ts'
import { suggestionsFor } from '../definition/suggestions.ts'
import type { Tools } from '../use-tools.ts'
import { AgentFields, ApprovalFields, BranchFields, CodeFields, MapFields, ToolFields } from './fields/kind-fields.tsx'
import { NODE_FIELDS, type NodeFieldsProps, SHARED_FIELDS, TRIED } from './fields/node-fields.ts'
import { SharedFields } from './fields/shared-fields.tsx'
import { KIND_STYLES } from './node-kind.tsx'
import { changeInOrder } from './node-order.ts'
import type { Editor } from './use-editor.ts'

interface NodeFormProps {
  editor: Editor
  node: WorkflowNode
  tools: Tools
  /** Called after a rename, because the URL has the node id. */
  onRename: (id: string) => void
}

export function NodeForm({ editor, node, tools, onRename }: NodeFormProps) {
  const { definition, change } = editor
  const problems = ofNode(editor.problems, definition.nodes.indexOf(node))
  const { label, icon: Icon } = KIND_STYLES[node.type]
  const fields: NodeFieldsProps = {
    node,
    definition,
    problems,
    tools,
    suggestions: suggestionsFor(definition, node.id, tools.schemas),
    change: (patch) => change(changeInOrder(definition, node.id, patch)),
  }
  const rename = (to: string) => {
    change(renameNode(definition, node.id, to))
    onRename(to)
  }
  return (
    <Card aria-label={`Node ${node.id}`} className="grid min-w-0 content-start gap-5 p-4 sm:p-5">
      <h2 className="flex items-center gap-2 font-semibold tracking-tight">
        <Icon aria-hidden className="size-4 text-ink-muted" strokeWidth={1.75} />
        {label}
      </h2>
      {notAt(problems, [...NODE_FIELDS[node.type], ...SHARED_FIELDS]).map((problem) => (
        <FieldError key={`${problem.path} ${problem.message}`}>{sentenceOf(problem)}</FieldError>
      ))}
      <div className="grid items-start gap-4 sm:grid-cols-2">
        <IdField id={node.id} definition={definition} onRename={rename} error={atField(problems, 'id')} />
        <Field optional label="Title" error={atField(problems, 'title')} hint="What the list and the graph show.">
          {(control) => (
            <Input
              {...control}
              value={node.title ?? ''}
              onChange={({ target }) => fields.change({ title: target.value === '' ? undefined : target.value })}
            />
          )}
        </Field>
      </div>
      <KindFields {...fields} />
      <details className="group rounded-lg border" open={hasShared(node, problems) || undefined}>
        <summary className="cursor-pointer rounded-lg px-3 py-2.5 text-sm font-medium">
          {TRIED[node.type].retry ? 'Order, retries and errors' : 'Order and errors'}
          {node.after && node.after.length > 0 && (
            <span className="font-normal wrap-anywhere text-ink-muted"> · runs after {node.after.join(', ')}</span>
          )}
        </summary>
        <div className="border-t px-3 py-4">
          <SharedFields {...fields} />
        </div>
      </details>
    </Card>
  )
}

function hasShared({ timeoutMs, retry, onError }: WorkflowNode, problems: NodeFieldsProps['problems']): boolean {
  const isUsed = timeoutMs !== undefined || retry !== undefined || (onError ?? 'fail') !== 'fail'
  return isUsed || SHARED_FIELDS.slice(2).some((field) => atField(problems, field) !== undefined)
}

function KindFields(props: NodeFieldsProps) {
  const { node } = props
  if (node.type === 'tool') return <ToolFields {...props} node={node} />
  if (node.type === 'agent') return <AgentFields {...props} node={node} />
  if (node.type === 'code') return <CodeFields {...props} node={node} />
  if (node.type === 'branch') return <BranchFields {...props} node={node} />
  if (node.type === 'map') return <MapFields {...props} node={node} />
  return <ApprovalFields {...props} node={node} />
}

const FORM = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/

interface IdFieldProps {
  id: string
  definition: Definition
  onRename: (id: string) => void
  error: string | undefined
}

/** Renames all references on blur, once the id is valid. */
function IdField({ id, definition, onRename, error }: IdFieldProps) {
  const [text, setText] = useState(id)
  const isTaken = text !== id && definition.nodes.some((node) => node.id === text)
  const wrong = isTaken
    ? `Another node is called “${text}”.`
    : FORM.test(text)
      ? undefined
      : 'A letter, then letters, digits, “_” or “-”; at most 64.'
  const settle = () => {
    if (wrong) setText(id)
    else if (text !== id) onRename(text)
  }
  return (
    <Field label="Id" error={wrong ?? error} hint={`Others read it as nodes.${id}.output`}>
      {(control) => (
        <Input
          {...control}
          value={text}
          onChange={({ target }) => setText(target.value)}
          onBlur={settle}
          onKeyDown={(event) => event.key === 'Enter' && settle()}
          className="font-mono text-[0.8125rem]"
        />
      )}
    </Field>
  )
}
