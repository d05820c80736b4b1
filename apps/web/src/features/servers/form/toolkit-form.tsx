import { Field } from '../../../ui/form/field.tsx'
import { Input } from '../../../ui/form/input.tsx'
import type { StdioRules } from '../queries.ts'
import type { Form } from './form.ts'
import { OptionsFields } from './options-fields.tsx'
import { RemoteFields } from './remote-fields.tsx'
import { StdioFields } from './stdio-fields.tsx'

/** Fields of a toolkit. They only edit the draft and send no requests. */
export function ToolkitFields({ form, rules }: { form: Form; rules?: StdioRules | undefined }) {
  const { draft, errors, change } = form
  return (
    <div className="grid gap-5">
      <Field label="Name" error={errors.name} hint="What you and your agents call it.">
        {(control) => (
          <Input
            {...control}
            data-first
            value={draft.name}
            placeholder={draft.type === 'stdio' ? 'filesystem' : 'tracker'}
            onChange={(event) => change({ name: event.target.value })}
          />
        )}
      </Field>
      {draft.type === 'stdio' ? <StdioFields form={form} rules={rules} /> : <RemoteFields form={form} />}
      <OptionsFields form={form} />
    </div>
  )
}
