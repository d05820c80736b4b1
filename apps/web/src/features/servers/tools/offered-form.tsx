/** Reads a resource, or fills in a URI template or a prompt, with the server's suggestions for each argument. */
import { useStore } from '@tanstack/react-form'
import { useMutation, useQuery } from '@tanstack/react-query'
import { LoaderCircle } from 'lucide-react'
import { useDeferredValue, useId, useState } from 'react'
import { answer, client, type Toolkit } from '../../../lib/api.ts'
import { onFormSubmit, useAppForm } from '../../../lib/form.tsx'
import { ProblemNotice } from '../../../lib/problems.tsx'
import { Button } from '../../../ui/form/button.tsx'
import { Field } from '../../../ui/form/field.tsx'
import { Input } from '../../../ui/form/input.tsx'
import { ContentView } from '../../results/content-view.tsx'
import { suggestionsQuery } from '../queries.ts'
import { type Argument, blocksOf, type OfferedItem } from './offered.ts'

interface OfferedFormProps {
  toolkit: Toolkit
  item: OfferedItem
  /** Display name. */
  label: string
  fields: readonly Argument[]
}

type Values = Record<string, string>

export function OfferedForm({ toolkit, item, label, fields }: OfferedFormProps) {
  const read = useMutation({ mutationFn: (values: Values) => ask(toolkit.uscoId, item, filled(values)) })
  const form = useAppForm({
    // A list, because an argument's name may contain a dot.
    defaultValues: { texts: fields.map(() => '') },
    onSubmit: ({ value }) => read.mutateAsync(valuesOf(fields, value.texts)),
  })
  const texts = useStore(form.store, ({ values }) => values.texts)
  const submitLabel = item.kind === 'prompt' ? 'Get prompt' : 'Read'
  return (
    <form onSubmit={onFormSubmit(form)} className="grid gap-3 pt-1.5">
      {fields.map((argument, index) => (
        <form.Field key={argument.name} name={`texts[${index}]`}>
          {({ handleChange }) => (
            <ArgumentField
              toolkit={toolkit}
              item={item}
              field={argument}
              values={valuesOf(fields, texts)}
              onChange={handleChange}
            />
          )}
        </form.Field>
      ))}
      <Button
        type="submit"
        size="small"
        className="w-fit"
        aria-label={`${submitLabel}: ${label}`}
        aria-disabled={read.isPending}
      >
        {read.isPending && <LoaderCircle aria-hidden className="motion-safe:animate-spin" />} {submitLabel}
      </Button>
      {read.error && <ProblemNotice error={read.error} />}
      {read.data && <ContentView result={{ content: blocksOf(read.data) }} label={label} />}
    </form>
  )
}

interface ArgumentFieldProps extends Pick<OfferedFormProps, 'toolkit' | 'item'> {
  field: Argument
  values: Values
  onChange: (value: string) => void
}

function ArgumentField({ toolkit, item, field, values, onChange }: ArgumentFieldProps) {
  const list = useId()
  const [isUsed, setIsUsed] = useState(false)
  const { [field.name]: value = '', ...others } = useDeferredValue(values)
  const argument = { name: field.name, value }
  const { data: suggestions = [] } = useQuery({
    ...suggestionsQuery(toolkit.uscoId, item, { argument, arguments: filled(others) }),
    enabled: isUsed && item.kind !== 'resource',
  })
  return (
    <Field label={field.name} optional={!field.required} hint={field.description || undefined}>
      {(control) => (
        <>
          <Input
            {...control}
            required={field.required}
            list={list}
            value={values[field.name] ?? ''}
            onFocus={() => setIsUsed(true)}
            onChange={(event) => onChange(event.target.value)}
          />
          <datalist id={list}>
            {suggestions.map((suggestion) => (
              <option key={suggestion} value={suggestion} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  )
}

const valuesOf = (fields: readonly Argument[], texts: readonly string[]): Values =>
  Object.fromEntries(fields.map(({ name }, index) => [name, texts[index] ?? '']))

/** Empty arguments are not sent. */
const filled = (values: Values): Values =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))

function ask(id: string, item: OfferedItem, values: Values): Promise<Record<string, unknown>> {
  const mcp = client.api.mcp[':id']
  if (item.kind === 'resource') return answer(mcp.resources.read.$get({ param: { id }, query: { uri: item.uri } }))
  if (item.kind === 'template')
    return answer(
      mcp.resources.read.$post({ param: { id }, json: { uriTemplate: item.uriTemplate, arguments: values } }),
    )
  return answer(mcp.prompts[':name'].$post({ param: { id, name: item.name }, json: { arguments: values } }))
}
