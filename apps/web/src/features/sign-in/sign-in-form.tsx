import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, client } from '../../lib/api.ts'
import { BASE_PATH } from '../../lib/base-path.ts'
import { onFormSubmit, useAppForm } from '../../lib/form.tsx'
import { ProblemNotice } from '../../lib/problems.tsx'
import { Button } from '../../ui/form/button.tsx'
import { type SignedIn, useSession } from '../shell/session.ts'

interface SignInFormProps {
  email?: string | undefined
  /** Return path of a provider sign-in. @default the current page */
  returnTo?: string | undefined
  onSignedIn: (user: SignedIn) => void
}

/** Sign-in methods of the server. The provider comes first, because its users may have no password. */
export function SignInForm({ email, returnTo, onSignedIn }: SignInFormProps) {
  const methods = useSession()?.methods
  if (!methods) return null
  const { oidc, password } = methods
  return (
    <div className="grid gap-5">
      {oidc && <ProviderLink name={oidc.name} returnTo={returnTo} />}
      {password && !oidc && <PasswordForm email={email} onSignedIn={onSignedIn} />}
      {password && oidc && <OrPassword email={email} onSignedIn={onSignedIn} />}
      {!oidc && !password && (
        <p className="text-sm text-ink-muted">People sign in to this server through the app that it belongs to.</p>
      )}
    </div>
  )
}

/** Password form on request. */
function OrPassword(props: Pick<SignInFormProps, 'email' | 'onSignedIn'>) {
  const [isOpen, setOpen] = useState(false)
  if (!isOpen)
    return (
      <Button variant="quiet" onClick={() => setOpen(true)}>
        Use a password instead
      </Button>
    )
  return (
    <>
      <p className="flex items-center gap-3 text-xs text-ink-faint before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
        or
      </p>
      <PasswordForm {...props} takesFocus />
    </>
  )
}

export function ProviderLink({ name, returnTo }: { name: string; returnTo: string | undefined }) {
  const back = returnTo === undefined ? currentPath() : `${BASE_PATH}${returnTo}`
  return (
    <a
      href={providerPath(back)}
      className="flex h-10 items-center justify-center rounded-lg border bg-surface px-3.5 text-sm font-medium shadow-flat hover:bg-sunken"
    >
      Continue with {name}
    </a>
  )
}

const currentPath = () => `${window.location.pathname}${window.location.search}`

/** `returnTo` is a path of the server, with its base path. */
export const providerPath = (returnTo: string) =>
  `${BASE_PATH}/api/auth/oidc/start?${new URLSearchParams({ returnTo })}`

interface PasswordFormProps extends Pick<SignInFormProps, 'email' | 'onSignedIn'> {
  /** Whether the form takes the focus, because the user opened it. */
  takesFocus?: boolean
}

function PasswordForm({ email = '', onSignedIn, takesFocus = false }: PasswordFormProps) {
  const signIn = useMutation({
    mutationFn: (json: { email: string; password: string }) => answer(client.api.auth['sign-in'].$post({ json })),
    onSuccess: ({ user }) => onSignedIn(user),
    onError: () => form.setFieldValue('password', ''),
  })
  const form = useAppForm({
    defaultValues: { email, password: '' },
    onSubmit: ({ value }) => signIn.mutateAsync({ email: value.email.trim(), password: value.password }),
  })
  return (
    <form onSubmit={onFormSubmit(form)} className="grid gap-4">
      {signIn.error && <ProblemNotice error={signIn.error} />}
      <form.AppField name="email">
        {(field) => (
          <field.TextField
            label="Email"
            type="email"
            name="email"
            autoComplete="username"
            required
            autoFocus={takesFocus}
          />
        )}
      </form.AppField>
      <form.AppField name="password">
        {(field) => (
          <field.PasswordField
            label="Password"
            hint="Forgotten? An operator can make you a link to choose a new one."
            autoComplete="current-password"
          />
        )}
      </form.AppField>
      <Button type="submit" variant="primary" className="h-10" aria-disabled={signIn.isPending}>
        {signIn.isPending ? 'Signing in…' : 'Sign in'}
      </Button>
    </form>
  )
}
