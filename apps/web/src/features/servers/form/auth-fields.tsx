import { useStore } from '@tanstack/react-form'
import { fieldError } from '../../../lib/form.tsx'
import { Field } from '../../../ui/form/field.tsx'
import { AUTH_TYPES, type AuthType } from './draft.ts'
import { rowErrors } from './field-errors.ts'
import { SecretInput } from './secret-input.tsx'
import { SecretRows } from './secret-rows.tsx'
import type { DraftForm } from './use-draft-form.ts'

const AUTH_LABELS: Record<AuthType, { label: string; hint: string }> = {
  none: { label: 'None', hint: 'The server asks for nothing.' },
  bearer: { label: 'Bearer token', hint: 'A token of yours, sent as Authorization: Bearer.' },
  headers: { label: 'Headers', hint: 'Credentials in headers of your choice.' },
  oauth: { label: 'OAuth', hint: 'You sign in with the server when it is first needed.' },
}

export function AuthFields({ form }: { form: DraftForm }) {
  const authType = useStore(form.store, ({ values }) => values.authType)
  return (
    <>
      <form.AppField name="authType">
        {(field) => (
          <field.SelectField label="Authentication" hint={AUTH_LABELS[authType].hint}>
            {AUTH_TYPES.map((type) => (
              <option key={type} value={type}>
                {AUTH_LABELS[type].label}
              </option>
            ))}
          </field.SelectField>
        )}
      </form.AppField>
      {authType === 'bearer' && <SecretField form={form} name="token" label="Token" />}
      {authType === 'headers' && (
        <form.Field name="authHeaders">
          {({ state, handleChange }) => (
            <SecretRows
              field="authHeaders"
              label="Authentication headers"
              noun="credential"
              example="X-Api-Key"
              hint="Values are stored encrypted."
              rows={state.value}
              errors={rowErrors(state.meta.errors)}
              onChange={handleChange}
            />
          )}
        </form.Field>
      )}
      {authType === 'oauth' && <OAuthFields form={form} />}
    </>
  )
}

function OAuthFields({ form }: { form: DraftForm }) {
  return (
    <div className="grid gap-4 rounded-xl border bg-sunken/50 p-4">
      <form.AppField name="clientId">
        {(field) => (
          <field.TextField
            label="Client ID"
            optional
            hint="Only where the server does not register clients by itself."
          />
        )}
      </form.AppField>
      <SecretField form={form} name="clientSecret" label="Client secret" optional />
      <form.AppField name="scopes">
        {(field) => (
          <field.TextField
            label="Scopes"
            optional
            hint="Separated by spaces."
            placeholder="repo read:user"
            className="font-mono"
          />
        )}
      </form.AppField>
    </div>
  )
}

interface SecretFieldProps {
  form: DraftForm
  name: 'token' | 'clientSecret'
  label: string
  optional?: boolean
}

function SecretField({ form, name, label, optional }: SecretFieldProps) {
  return (
    <form.Field name={name}>
      {({ state, handleChange }) => (
        <Field label={label} optional={optional} error={fieldError(state.meta.errors, label)}>
          {(control) => (
            <SecretInput {...control} label={label} placeholder={label} value={state.value} onChange={handleChange} />
          )}
        </Field>
      )}
    </form.Field>
  )
}
