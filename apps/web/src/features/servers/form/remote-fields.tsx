import { Segmented } from '../../../ui/form/choice.tsx'
import { Field } from '../../../ui/form/field.tsx'
import { Input } from '../../../ui/form/input.tsx'
import { AuthFields } from './auth-fields.tsx'
import { holdsPlaceholder } from './draft.ts'
import type { Form } from './form.ts'
import { SecretRows } from './secret-rows.tsx'
import { StoredHint } from './stored-hint.tsx'

const PROTOCOLS = [
  { value: 'http', label: 'Streamable HTTP' },
  { value: 'sse', label: 'SSE (older)' },
] as const

export function RemoteFields({ form }: { form: Form }) {
  const { draft, errors, change } = form
  return (
    <>
      <Field
        label="URL"
        error={errors.url}
        hint={holdsPlaceholder(draft.url) ? <StoredHint /> : 'Where the server answers, with its path.'}
      >
        {(control) => (
          <Input
            {...control}
            // With `type="url"` the browser's own message would cover the API's.
            inputMode="url"
            autoCapitalize="off"
            value={draft.url}
            placeholder="https://mcp.example.com/mcp"
            className="font-mono"
            onChange={(event) => change({ url: event.target.value })}
          />
        )}
      </Field>
      <div className="grid justify-items-start gap-1.5">
        <span aria-hidden className="text-sm font-medium">
          Protocol
        </span>
        <Segmented
          label="Protocol"
          value={draft.type === 'sse' ? 'sse' : 'http'}
          options={PROTOCOLS}
          onChange={(type) => change({ type })}
        />
      </div>
      <AuthFields form={form} />
      <SecretRows
        field="headers"
        label="Headers"
        noun="header"
        example="X-Api-Key"
        hint="Sent with every request. Values are stored encrypted."
        rows={draft.headers}
        errors={errors}
        onChange={(headers) => change({ headers })}
      />
    </>
  )
}
