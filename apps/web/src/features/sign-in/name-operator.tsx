import { useMutation } from '@tanstack/react-query'
import { answer, client } from '../../lib/api.ts'
import { BASE_PATH } from '../../lib/base-path.ts'
import { onFormSubmit, useAppForm } from '../../lib/form.tsx'
import { ProblemNotice } from '../../lib/problems.tsx'
import { Button } from '../../ui/form/button.tsx'
import { providerPath } from './sign-in-form.tsx'

/** Names the first operator and continues with the provider. The link stays valid until the first sign-in. */
export function NameOperator({ token, provider }: { token: string; provider: string }) {
  const setUp = useMutation({
    mutationFn: (person: { email: string; name: string }) =>
      answer(client.api.auth.setup.$post({ json: { token, ...person } })),
    onSuccess: () => window.location.assign(providerPath(`${BASE_PATH}/connectors`)),
  })
  const isBusy = setUp.isPending || setUp.isSuccess
  const form = useAppForm({
    defaultValues: { email: '', name: '' },
    onSubmit: async ({ value }) => {
      if (!isBusy) await setUp.mutateAsync({ email: value.email.trim(), name: value.name.trim() })
    },
  })
  return (
    <form onSubmit={onFormSubmit(form)} className="grid gap-4">
      {setUp.error && <ProblemNotice error={setUp.error} />}
      <form.AppField name="email">
        {(field) => (
          <field.TextField
            label="Email"
            hint={`The one that ${provider} knows you by.`}
            type="email"
            autoComplete="username"
            required
          />
        )}
      </form.AppField>
      <form.AppField name="name">
        {(field) => <field.TextField label="Name" autoComplete="name" required />}
      </form.AppField>
      <Button type="submit" variant="primary" className="h-10" aria-disabled={isBusy}>
        {isBusy ? 'One moment…' : `Continue with ${provider}`}
      </Button>
    </form>
  )
}
