import { Field } from '../../../ui/form/field.tsx'
import { Input, Select } from '../../../ui/form/input.tsx'
import { AUTH_TYPES, type AuthType } from './draft.ts'
import type { Form } from './form.ts'
import { SecretInput } from './secret-input.tsx'
import { SecretRows } from './secret-rows.tsx'

const AUTH_LABELS: Record<AuthType, { label: string; hint: string }> = {
  none: { label: 'None', hint: 'The server asks for nothing.' },
  bearer: { label: 'Bearer token', hint: 'A token of yours, sent as Authorization: Bearer.' },
  headers: { label: 'Headers', hint: 'Credentials in headers of your choice.' },
  oauth: { label: 'OAuth', hint: 'You sign in with the server when it is first needed.' },
}

export function AuthFields({ form }: { form: Form }) {
  const { draft, errors, change } = form
  return (
    <>
      <Field label="Authentication" error={errors.authType} hint={AUTH_LABELS[draft.authType].hint}>
        {(control) => (
          <Select
            {...control}
            value={draft.authType}
            onChange={(event) => change({ authType: AUTH_TYPES.find((type) => type === event.target.value) ?? 'none' })}
          >
            {AUTH_TYPES.map((type) => (
              <option key={type} value={type}>
                {AUTH_LABELS[type].label}
              </option>
            ))}
          </Select>
        )}
      </Field>
      {draft.authType === 'bearer' && (
        <Field label="Token" error={errors.token}>
          {(control) => (
            <SecretInput
              {...control}
              label="Token"
              placeholder="Token"
              value={draft.token}
              onChange={(token) => change({ token })}
            />
          )}
        </Field>
      )}
      {draft.authType === 'headers' && (
        <SecretRows
          field="authHeaders"
          label="Authentication headers"
          noun="credential"
          example="X-Api-Key"
          hint="Values are stored encrypted."
          rows={draft.authHeaders}
          errors={errors}
          onChange={(authHeaders) => change({ authHeaders })}
        />
      )}
      {draft.authType === 'oauth' && <OAuthFields form={form} />}
    </>
  )
}

function OAuthFields({ form: { draft, errors, change } }: { form: Form }) {
  return (
    <div className="grid gap-4 rounded-xl border bg-sunken/50 p-4">
      <Field
        label="Client ID"
        optional
        error={errors.clientId}
        hint="Only where the server does not register clients by itself."
      >
        {(control) => (
          <Input {...control} value={draft.clientId} onChange={(event) => change({ clientId: event.target.value })} />
        )}
      </Field>
      <Field label="Client secret" optional error={errors.clientSecret}>
        {(control) => (
          <SecretInput
            {...control}
            label="Client secret"
            placeholder="Client secret"
            value={draft.clientSecret}
            onChange={(clientSecret) => change({ clientSecret })}
          />
        )}
      </Field>
      <Field label="Scopes" optional error={errors.scopes} hint="Separated by spaces.">
        {(control) => (
          <Input
            {...control}
            value={draft.scopes}
            placeholder="repo read:user"
            className="font-mono"
            onChange={(event) => change({ scopes: event.target.value })}
          />
        )}
      </Field>
    </div>
  )
}
