import { useStore } from '@tanstack/react-form'
import type { StdioRules } from '../queries.ts'
import { OptionsFields } from './options-fields.tsx'
import { RemoteFields } from './remote-fields.tsx'
import { StdioFields } from './stdio-fields.tsx'
import type { DraftForm } from './use-draft-form.ts'

/** Fields of a toolkit. They only edit the draft and send no requests. */
export function ToolkitFields({ form, rules }: { form: DraftForm; rules?: StdioRules | undefined }) {
  const type = useStore(form.store, ({ values }) => values.type)
  return (
    <div className="grid gap-5">
      <form.AppField name="name">
        {(field) => (
          <field.TextField
            label="Name"
            hint="You and your agents use this name."
            data-first
            placeholder={type === 'stdio' ? 'filesystem' : 'tracker'}
          />
        )}
      </form.AppField>
      {type === 'stdio' ? <StdioFields form={form} rules={rules} /> : <RemoteFields form={form} />}
      <OptionsFields form={form} />
    </div>
  )
}
