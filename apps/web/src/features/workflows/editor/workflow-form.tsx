import { Card } from '../../../ui/data/card.tsx'
import { Field, FieldError } from '../../../ui/form/field.tsx'
import { Input, Textarea } from '../../../ui/form/input.tsx'
import type { Definition } from '../definition/definition.ts'
import { atField, notAt, ofWorkflow, sentenceOf } from '../definition/problems.ts'
import { InputEditor } from './fields/input-editor.tsx'
import { OptionalJson } from './fields/optional-json.tsx'
import type { Editor } from './use-editor.ts'

const FIELDS = ['name', 'description', 'input', 'output', 'brings']

/** Fields of the workflow itself. */
export function WorkflowForm({ editor }: { editor: Editor }) {
  const { definition, change } = editor
  const problems = ofWorkflow(editor.problems)
  const put = (patch: Partial<Definition>) => change(tidied({ ...definition, ...patch }))
  return (
    <Card aria-label="Workflow" className="grid min-w-0 content-start gap-5 p-4 sm:p-5">
      <h2 className="font-semibold tracking-tight">Workflow</h2>
      {notAt(problems, FIELDS).map((problem) => (
        <FieldError key={problem.message}>{sentenceOf(problem)}</FieldError>
      ))}
      <Field label="Name" error={atField(problems, 'name')}>
        {(control) => (
          <Input {...control} value={definition.name} onChange={({ target }) => put({ name: target.value })} />
        )}
      </Field>
      <Field optional label="Description" error={atField(problems, 'description')}>
        {(control) => (
          <Textarea
            {...control}
            value={definition.description ?? ''}
            onChange={({ target }) => put({ description: target.value === '' ? undefined : target.value })}
          />
        )}
      </Field>
      <InputEditor
        value={definition.input ?? { type: 'object' }}
        onChange={(input) => put({ input })}
        error={atField(problems, 'input')}
      />
      <OptionalJson
        label="Output"
        hint="What a run gives, with expressions: “{{ nodes.find.output }}”. Without it, what the last nodes gave."
        start={{}}
        value={definition.output}
        onChange={(output) => put({ output })}
        error={atField(problems, 'output')}
      />
      <Brings
        value={definition.brings ?? []}
        onChange={(brings) => put({ brings })}
        error={atField(problems, 'brings')}
      />
    </Card>
  )
}

function Brings({
  value,
  onChange,
  error,
}: {
  value: readonly string[]
  onChange: (ids: string[]) => void
  error: string | undefined
}) {
  return (
    <Field
      optional
      label="Servers that each run brings"
      error={error}
      hint="Ids of servers that whoever runs it gives with the call, separated by blanks. They are not looked for when it is saved."
    >
      {(control) => (
        <Input
          {...control}
          key={value.join(' ')}
          defaultValue={value.join(' ')}
          onBlur={({ target }) => onChange(target.value.split(/[\s,]+/).filter(Boolean))}
        />
      )}
    </Field>
  )
}

const tidied = (definition: Definition): Definition =>
  Object.fromEntries(Object.entries(definition).filter(([, value]) => value !== undefined)) as unknown as Definition
