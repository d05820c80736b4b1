import { Segmented } from '../../../ui/form/choice.tsx'
import { AuthFields } from './auth-fields.tsx'
import { holdsPlaceholder } from './draft.ts'
import { rowErrors } from './field-errors.ts'
import { SecretRows } from './secret-rows.tsx'
import { StoredHint } from './stored-hint.tsx'
import type { DraftForm } from './use-draft-form.ts'

const PROTOCOLS = [
  { value: 'http', label: 'Streamable HTTP' },
  { value: 'sse', label: 'SSE (older)' },
] as const

export function RemoteFields({ form }: { form: DraftForm }) {
  return (
    <>
      <form.AppField name="url">
        {(field) => (
          <field.TextField
            label="URL"
            hint={holdsPlaceholder(field.state.value) ? <StoredHint /> : 'Where the server answers, with its path.'}
            // With `type="url"` the browser's own message would cover the API's.
            inputMode="url"
            autoCapitalize="off"
            placeholder="https://mcp.example.com/mcp"
            className="font-mono"
          />
        )}
      </form.AppField>
      <div className="grid justify-items-start gap-1.5">
        <span aria-hidden className="text-sm font-medium">
          Protocol
        </span>
        <form.Field name="type">
          {({ state, handleChange }) => (
            <Segmented
              label="Protocol"
              value={state.value === 'sse' ? 'sse' : 'http'}
              options={PROTOCOLS}
              onChange={handleChange}
            />
          )}
        </form.Field>
      </div>
      <AuthFields form={form} />
      <form.Field name="headers">
        {({ state, handleChange }) => (
          <SecretRows
            field="headers"
            label="Headers"
            noun="header"
            example="X-Api-Key"
            hint="Sent with every request. Values are stored encrypted."
            rows={state.value}
            errors={rowErrors(state.meta.errors)}
            onChange={handleChange}
          />
        )}
      </form.Field>
    </>
  )
}
