import { Trash2 } from 'lucide-react'
import { type ReactNode, useId } from 'react'
import { Button } from '../../ui/form/button.tsx'
import { CodeEditor } from '../../ui/form/code-editor.tsx'
import { Field, FieldError, FieldHint } from '../../ui/form/field.tsx'
import { Input, Textarea } from '../../ui/form/input.tsx'
import { JsonText } from '../schema-form/json-text.tsx'
import { lines } from '../servers/form/draft-options.ts'
import { type FieldProblem, inCode, problemOfTool } from './custom-problems.ts'
import { type CustomTool, withField } from './custom-record.ts'

interface ToolFormProps {
  tool: CustomTool
  index: number
  problems: readonly FieldProblem[]
  onChange: (tool: CustomTool) => void
  onRemove: () => void
}

export function ToolForm(props: ToolFormProps) {
  return (
    <div className="grid min-w-0 gap-5">
      <Texts {...props} />
      <SchemaField {...props} field="inputSchema" label="What it takes" hint="A JSON Schema of type object." />
      <CodeField {...props} />
      <Claims {...props} />
      <div className="grid gap-4 sm:grid-cols-2">
        <LinesField
          {...props}
          field="hosts"
          label="Hosts it may reach"
          placeholder="api.example.com"
          hint="One on each line. The operator must allow them too."
        />
        <LinesField
          {...props}
          field="tools"
          label="Tools it may call"
          placeholder="github.list_issues"
          hint="Refs or patterns, one on each line."
        />
      </div>
      <details className="rounded-xl border bg-sunken/40">
        <summary className="flex min-h-10 cursor-pointer items-center rounded-xl px-4 text-sm font-medium">
          What it gives
        </summary>
        <div className="border-t p-4">
          <SchemaField
            {...props}
            field="outputSchema"
            label="What it gives"
            hint="A JSON Schema that results are held against. Empty: anything."
          />
        </div>
      </details>
      <div>
        <Button size="small" variant="quiet" className="text-bad hover:text-bad" onClick={props.onRemove}>
          <Trash2 aria-hidden /> Remove this tool
        </Button>
      </div>
    </div>
  )
}

function Texts({ tool, index, problems, onChange }: ToolFormProps) {
  const text = (field: 'name' | 'title' | 'description') => ({
    value: String(tool[field] ?? ''),
    onChange: (event: { target: { value: string } }) => onChange(withField(tool, field, event.target.value)),
  })
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field
          className="content-start"
          label="Tool name"
          error={problemOfTool(problems, index, 'name')}
          hint="A-Z, a-z, 0-9, _, - and dots."
        >
          {(control) => <Input {...control} {...text('name')} autoCapitalize="off" className="font-mono" />}
        </Field>
        <Field className="content-start" label="Title" optional error={problemOfTool(problems, index, 'title')}>
          {(control) => <Input {...control} {...text('title')} />}
        </Field>
      </div>
      <Field
        label="Description"
        error={problemOfTool(problems, index, 'description')}
        hint="What a model reads to decide whether it needs the tool."
      >
        {(control) => <Textarea {...control} {...text('description')} spellCheck className="min-h-12" />}
      </Field>
    </>
  )
}

interface SchemaFieldProps extends ToolFormProps {
  field: 'inputSchema' | 'outputSchema'
  label: string
  hint: string
}

function SchemaField({ tool, index, problems, onChange, field, label, hint }: SchemaFieldProps) {
  const error = problemOfTool(problems, index, field)
  return (
    <Group label={label} hint={hint} error={error}>
      {(describedBy) => (
        <JsonText
          label={`${label}, as JSON Schema`}
          value={tool[field]}
          lines={5}
          aria-describedby={describedBy}
          onChange={(next) => onChange(withField(tool, field, next))}
        />
      )}
    </Group>
  )
}

function CodeField({ tool, index, problems, onChange }: ToolFormProps) {
  const code = String(tool.execute ?? '')
  const error = problemOfTool(problems, index, 'execute')
  return (
    <Group
      label="Code"
      hint="The body of an async function, in JavaScript or TypeScript; or ref:name for a function of the app."
      error={error}
    >
      {(describedBy) => (
        <CodeEditor
          label="Code"
          language="typescript"
          lines={8}
          value={code}
          problems={inCode(code, error)}
          aria-invalid={error ? true : undefined}
          aria-describedby={describedBy}
          onChange={(next) => onChange(withField(tool, 'execute', next))}
        />
      )}
    </Group>
  )
}

const CLAIMS = [
  { hint: 'readOnlyHint', label: 'Only reads' },
  { hint: 'destructiveHint', label: 'May destroy' },
  { hint: 'idempotentHint', label: 'Idempotent' },
  { hint: 'openWorldHint', label: 'Open world' },
] as const

function Claims({ tool, onChange }: ToolFormProps) {
  const claims = tool.annotations ?? {}
  const change = (hint: string, on: boolean) => {
    const next = withField(claims, hint, on ? true : undefined)
    onChange(withField(tool, 'annotations', Object.keys(next).length === 0 ? undefined : next))
  }
  return (
    <fieldset className="grid gap-1.5">
      <legend className="mb-1.5 text-sm font-medium">What it claims of itself</legend>
      <div className="flex flex-wrap gap-x-5 gap-y-1">
        {CLAIMS.map(({ hint, label }) => (
          <label key={hint} className="flex min-h-7 items-center gap-2 text-sm">
            <input
              type="checkbox"
              checked={claims[hint] === true}
              onChange={(event) => change(hint, event.target.checked)}
              className="size-4.5 accent-accent"
            />
            {label}
          </label>
        ))}
      </div>
      <FieldHint>Who calls it is asked first, unless it only reads or a rule says otherwise.</FieldHint>
    </fieldset>
  )
}

interface LinesFieldProps extends ToolFormProps {
  field: 'hosts' | 'tools'
  label: string
  placeholder: string
  hint: string
}

function LinesField({ tool, index, problems, onChange, field, label, placeholder, hint }: LinesFieldProps) {
  return (
    <Field className="content-start" label={label} optional error={problemOfTool(problems, index, field)} hint={hint}>
      {(control) => (
        <Textarea
          {...control}
          key={index}
          autoCapitalize="off"
          defaultValue={(tool[field] ?? []).join('\n')}
          placeholder={placeholder}
          className="min-h-10 font-mono text-[0.8125rem]"
          onChange={(event) => onChange(withField(tool, field, lines(event.target.value)))}
        />
      )}
    </Field>
  )
}

interface GroupProps {
  label: string
  hint: string
  error: string | undefined
  children: (describedBy: string) => ReactNode
}

/** A field whose editor has its own accessible name. */
function Group({ label, hint, error, children }: GroupProps) {
  const id = useId()
  return (
    <div className="grid min-w-0 gap-1.5">
      <span aria-hidden className="text-sm font-medium">
        {label}
      </span>
      {children(error ? `${id}-error ${id}-hint` : `${id}-hint`)}
      {error && <FieldError id={`${id}-error`}>{error}</FieldError>}
      <FieldHint id={`${id}-hint`}>{hint}</FieldHint>
    </div>
  )
}
