import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { answer, client, problemOf } from '../../lib/api.ts'
import { BASE_PATH } from '../../lib/base-path.ts'
import { ProblemNotice } from '../../lib/problems.tsx'
import { Button } from '../../ui/form/button.tsx'
import { EmailField, NameField } from './person-fields.tsx'
import { providerPath } from './sign-in-form.tsx'

/** Names the first operator and continues with the provider. The link stays valid until the first sign-in. */
export function NameOperator({ token, provider }: { token: string; provider: string }) {
  const [email, setEmail] = useState('')
  const [name, setName] = useState('')
  const setUp = useMutation({
    mutationFn: () => answer(client.api.auth.setup.$post({ json: { token, email: email.trim(), name: name.trim() } })),
    onSuccess: () => window.location.assign(providerPath(`${BASE_PATH}/connectors`)),
  })
  const errorAt = (path: string) =>
    setUp.error ? problemOf(setUp.error).errors?.find((problem) => problem.path === path)?.message : undefined
  const isBusy = setUp.isPending || setUp.isSuccess
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!isBusy) setUp.mutate()
  }
  return (
    <form onSubmit={submit} className="grid gap-4">
      {setUp.error && <ProblemNotice error={setUp.error} />}
      <EmailField
        hint={`The one that ${provider} knows you by.`}
        value={email}
        error={errorAt('email')}
        onChange={setEmail}
      />
      <NameField value={name} error={errorAt('name')} onChange={setName} />
      <Button type="submit" variant="primary" className="h-10" aria-disabled={isBusy}>
        {isBusy ? 'One moment…' : `Continue with ${provider}`}
      </Button>
    </form>
  )
}
