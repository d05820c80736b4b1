import { Globe, Terminal } from 'lucide-react'
import { ChoiceCards } from '../../ui/choice.tsx'
import { Field, FieldError } from '../../ui/field.tsx'
import { Input } from '../../ui/input.tsx'
import type { Form } from './form.ts'
import { RemoteFields } from './remote-fields.tsx'
import { StdioFields } from './stdio-fields.tsx'

const DOORS = [
  { value: 'command', label: 'Command', hint: 'A process, over stdio', icon: <Terminal aria-hidden /> },
  { value: 'url', label: 'URL', hint: 'A server, over HTTP', icon: <Globe aria-hidden /> },
] as const

/** The fields of a toolkit. It knows nothing of requests: it is given a draft and says what changed. */
export function ToolkitFields({ form }: { form: Form }) {
  const { draft, errors, change } = form
  const isCommand = draft.type === 'stdio'
  return (
    <div className="grid gap-5">
      <Field label="Name" error={errors.name} hint="What you and your agents call it.">
        {(control) => (
          <Input
            {...control}
            value={draft.name}
            placeholder="filesystem"
            onChange={(event) => change({ name: event.target.value })}
          />
        )}
      </Field>
      <div className="grid gap-1.5">
        <span aria-hidden className="text-sm font-medium">
          How to reach it
        </span>
        <ChoiceCards
          label="How to reach it"
          value={isCommand ? 'command' : 'url'}
          options={DOORS}
          onChange={(door) => change({ type: door === 'command' ? 'stdio' : 'http' })}
        />
        {errors.type && <FieldError>{errors.type}</FieldError>}
      </div>
      {isCommand ? <StdioFields form={form} /> : <RemoteFields form={form} />}
    </div>
  )
}
