import { Wrench } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../../../ui/form/button.tsx'
import { CodeEditor } from '../../../../ui/form/code-editor.tsx'
import { Field, FieldError } from '../../../../ui/form/field.tsx'
import { Input } from '../../../../ui/form/input.tsx'
import { AnnotationBadges } from '../../../tools/tool-badges.tsx'
import type {
  AgentNode,
  ApprovalNode,
  BranchNode,
  CodeNode,
  JsonObject,
  MapNode,
  ToolNode,
} from '../../definition/definition.ts'
import { atField } from '../../definition/problems.ts'
import { nodeOwners } from '../../graph/graph.ts'
import { NodeChoice, NodeChoices } from '../node-choice.tsx'
import { ArgumentsForm } from './arguments-form.tsx'
import { CountInput } from './count-input.tsx'
import { ExpressionField } from './expression-field.tsx'
import { ModelField } from './model-field.tsx'
import type { NodeFieldsProps } from './node-fields.ts'
import { OptionalJson } from './optional-json.tsx'
import { ToolPicker } from './tool-picker.tsx'
import { ToolsField } from './tools-field.tsx'

const OPENER = 'choose-tool'

export function ToolFields({ node, change, problems, suggestions, tools }: NodeFieldsProps<ToolNode>) {
  const [isOpen, setOpen] = useState(false)
  const tool = tools.find(node.ref)
  const error = atField(problems, 'ref')
  return (
    <>
      <div className="grid gap-1.5">
        <span className="text-sm font-medium">Tool</span>
        <div className="flex flex-wrap items-center gap-3 rounded-lg border border-line bg-raised p-3">
          <Wrench aria-hidden className="size-4 shrink-0 text-ink-muted" strokeWidth={1.75} />
          <span className="grid min-w-0 flex-1 basis-40 gap-1">
            <span className="font-mono text-[0.8125rem] font-medium wrap-anywhere">
              {node.ref || 'None chosen yet'}
            </span>
            {tool?.description && (
              <span className="line-clamp-2 text-[0.8125rem] text-ink-muted">{tool.description}</span>
            )}
            {tool && (
              <span className="flex flex-wrap gap-1 empty:hidden">
                <AnnotationBadges tool={tool} short />
              </span>
            )}
          </span>
          <Button id={OPENER} size="small" onClick={() => setOpen(true)}>
            {node.ref === '' ? 'Choose a tool' : 'Change'}
          </Button>
        </div>
        {error && <FieldError>{error}</FieldError>}
      </div>
      {node.ref !== '' && (
        <ArgumentsForm
          of={`${node.id} ${node.ref}`}
          schema={tool?.inputSchema as JsonObject | undefined}
          value={node.arguments ?? {}}
          onChange={(args) => change({ arguments: args })}
          suggestions={suggestions}
          problems={problems.filter(({ field }) => field.startsWith('arguments'))}
        />
      )}
      {isOpen && (
        <ToolPicker
          tools={tools}
          chosen={node.ref === '' ? [] : [node.ref]}
          onClose={() => setOpen(false)}
          onClosed={() => document.getElementById(OPENER)?.focus()}
          onPick={([ref = '']) => {
            change({ ref })
            setOpen(false)
          }}
        />
      )}
    </>
  )
}

export function AgentFields({ node, definition, change, problems, suggestions, tools }: NodeFieldsProps<AgentNode>) {
  return (
    <>
      <ExpressionField
        label="Prompt"
        value={node.prompt}
        onChange={(prompt) => change({ prompt })}
        suggestions={suggestions}
        error={atField(problems, 'prompt')}
        hint="What the model is asked. Insert inputs and earlier outputs with the braces."
      />
      <ExpressionField
        optional
        label="System"
        value={node.system ?? ''}
        onChange={(system) => change({ system: system === '' ? undefined : system })}
        suggestions={suggestions}
        error={atField(problems, 'system')}
      />
      <div className="grid items-start gap-4 sm:grid-cols-2">
        <ModelField
          value={node.model}
          onChange={(model) => change({ model })}
          others={definition.nodes.flatMap((other) =>
            other.type === 'agent' && other !== node ? (other.model ?? []) : [],
          )}
          error={atField(problems, 'model')}
        />
        <CountInput
          optional
          label="Most steps"
          value={node.maxSteps}
          onChange={(maxSteps) => change({ maxSteps })}
          error={atField(problems, 'maxSteps')}
          hint="Questions to the model; 10 if not given."
        />
        <CountInput
          optional
          label="Most tokens"
          value={node.budget}
          onChange={(budget) => change({ budget })}
          error={atField(problems, 'budget')}
          hint="Of all questions and answers together. The operator may allow less."
        />
      </div>
      <ToolsField
        value={node.tools ?? []}
        onChange={(refs) => change({ tools: refs })}
        tools={tools}
        hint="The model may call these and no others."
        error={atField(problems, 'tools')}
      />
      <OptionalJson
        label="Schema of its answer"
        hint="JSON Schema. Without it the answer is text."
        start={{ type: 'object', properties: {} }}
        value={node.output}
        onChange={(output) => change({ output: output as JsonObject | undefined })}
        error={atField(problems, 'output')}
      />
    </>
  )
}

export function CodeFields({ node, change, problems, tools }: NodeFieldsProps<CodeNode>) {
  return (
    <>
      <Field
        label="Program"
        error={atField(problems, 'program')}
        hint="The body of an async function. It reads `input`, calls tools as functions, and returns its output."
      >
        {(control) => (
          <CodeEditor
            {...control}
            label="Program"
            language="typescript"
            lines={10}
            value={node.program}
            onChange={(program) => change({ program })}
          />
        )}
      </Field>
      <OptionalJson
        label="Input"
        hint="What the program reads as `input`. Texts may hold expressions: “{{ nodes.find.output }}”."
        start={{}}
        value={node.input}
        onChange={(input) => change({ input })}
        error={atField(problems, 'input')}
      />
      <ToolsField
        value={node.tools ?? []}
        onChange={(refs) => change({ tools: refs })}
        tools={tools}
        hint="These are functions in the program: `await filesystem.read_file({ path })`."
        error={atField(problems, 'tools')}
      />
    </>
  )
}

export function BranchFields({ node, definition, change, problems, suggestions }: NodeFieldsProps<BranchNode>) {
  const except = [node.id, ...nodeOwners(definition).keys()]
  return (
    <>
      <ExpressionField
        bare
        label="Condition"
        value={node.when}
        onChange={(when) => change({ when })}
        suggestions={suggestions}
        placeholder="size(nodes.find.output.items) > 0"
        error={atField(problems, 'when')}
        hint="An expression that is true or false."
      />
      <NodeChoices
        label="If true"
        definition={definition}
        except={[...except, ...(node.onFalse ?? [])]}
        value={node.onTrue ?? []}
        onChange={(onTrue) => change({ onTrue })}
        error={atField(problems, 'onTrue')}
        hint="These nodes run; otherwise they are skipped."
      />
      <NodeChoices
        label="If false"
        definition={definition}
        except={[...except, ...(node.onTrue ?? [])]}
        value={node.onFalse ?? []}
        onChange={(onFalse) => change({ onFalse })}
        error={atField(problems, 'onFalse')}
        hint="These nodes run where the condition is false."
      />
    </>
  )
}

export function MapFields({ node, definition, change, problems, suggestions }: NodeFieldsProps<MapNode>) {
  const owners = nodeOwners(definition)
  const except = [node.id, ...[...owners].filter(([, by]) => by !== node.id).map(([id]) => id)]
  return (
    <>
      <ExpressionField
        bare
        label="List"
        value={node.over}
        onChange={(over) => change({ over })}
        suggestions={suggestions}
        placeholder="nodes.find.output.items"
        error={atField(problems, 'over')}
        hint="An expression that gives a list."
      />
      <NodeChoice
        label="Node to run"
        definition={definition}
        except={except}
        value={node.node}
        onChange={(id) => change({ node: id })}
        error={atField(problems, 'node')}
        hint="It runs for each item, and by nothing else."
      />
      <div className="grid items-start gap-4 sm:grid-cols-2">
        <Field
          optional
          label="Name of an item"
          error={atField(problems, 'as')}
          hint="In its expressions; “item” if not given."
        >
          {(control) => (
            <Input
              {...control}
              value={node.as ?? ''}
              onChange={({ target }) => change({ as: target.value || undefined })}
            />
          )}
        </Field>
        <CountInput
          optional
          label="At once"
          value={node.concurrency}
          onChange={(concurrency) => change({ concurrency })}
          error={atField(problems, 'concurrency')}
          hint="Items at the same time; 4 if not given."
        />
      </div>
    </>
  )
}

export function ApprovalFields({ node, change, problems, suggestions }: NodeFieldsProps<ApprovalNode>) {
  return (
    <>
      <ExpressionField
        label="Question"
        value={node.message}
        onChange={(message) => change({ message })}
        suggestions={suggestions}
        placeholder="Send {{ size(nodes.each.output) }} pages?"
        error={atField(problems, 'message')}
        hint="You are asked here and in Approvals. Denied, the node fails."
      />
      <ArgumentsForm
        of={node.id}
        schema={undefined}
        value={node.arguments ?? {}}
        onChange={(args) => change({ arguments: args })}
        suggestions={suggestions}
        problems={problems.filter(({ field }) => field.startsWith('arguments'))}
      />
    </>
  )
}
