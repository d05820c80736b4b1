import { Field, FieldError, FieldHint } from '../../../ui/form/field.tsx'
import { Select } from '../../../ui/form/input.tsx'
import type { Definition } from '../definition/definition.ts'

interface NodeChoiceProps {
  label: string
  definition: Definition
  /** Node ids that cannot be selected. */
  except: readonly string[]
  error: string | undefined
  hint: string
}

/** Selects several nodes. */
export function NodeChoices({
  label,
  definition,
  except,
  error,
  hint,
  value,
  onChange,
}: NodeChoiceProps & { value: readonly string[]; onChange: (ids: string[]) => void }) {
  const there = definition.nodes.map(({ id }) => id).filter((id) => !except.includes(id) || value.includes(id))
  const gone = value.filter((id) => !there.includes(id))
  const toggle = (id: string) => onChange(value.includes(id) ? value.filter((item) => item !== id) : [...value, id])
  return (
    <fieldset className="grid min-w-0 gap-1.5">
      <legend className="mb-1.5 text-sm font-medium">{label}</legend>
      {there.length + gone.length === 0 && <p className="text-sm text-ink-muted">There is no other node.</p>}
      <div className="flex flex-wrap gap-1.5">
        {[...there, ...gone].map((id) => (
          <label
            key={id}
            className="flex h-8 items-center gap-2 rounded-lg border border-line bg-surface px-2.5 text-[0.8125rem] has-checked:border-accent has-checked:bg-accent-soft has-focus-visible:outline-2 has-focus-visible:outline-accent"
          >
            <input
              type="checkbox"
              className="size-3.5 accent-accent outline-none"
              checked={value.includes(id)}
              onChange={() => toggle(id)}
            />
            {id}
          </label>
        ))}
      </div>
      {error && <FieldError>{error}</FieldError>}
      <FieldHint>{hint}</FieldHint>
    </fieldset>
  )
}

/** Selects one node. */
export function NodeChoice({
  label,
  definition,
  except,
  error,
  hint,
  value,
  onChange,
}: NodeChoiceProps & { value: string; onChange: (id: string) => void }) {
  const there = definition.nodes.map(({ id }) => id).filter((id) => !except.includes(id))
  return (
    <Field label={label} error={error} hint={hint}>
      {(control) => (
        <Select {...control} value={value} onChange={({ target }) => onChange(target.value)}>
          <option value="">Choose a node</option>
          {value !== '' && !there.includes(value) && <option value={value}>{value} (missing)</option>}
          {there.map((id) => (
            <option key={id} value={id}>
              {id}
            </option>
          ))}
        </Select>
      )}
    </Field>
  )
}
