/** Page of one-time links: setup, invitation and password reset. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { answer, client } from '../../lib/api.ts'
import { onFormSubmit, useAppForm } from '../../lib/form.tsx'
import { ProblemNotice } from '../../lib/problems.tsx'
import { applyStoredTheme, saveTheme } from '../../lib/theme.ts'
import { Skeleton } from '../../ui/data/skeleton.tsx'
import { Button } from '../../ui/form/button.tsx'
import { sessionQuery } from '../shell/session.ts'
import { NameOperator } from './name-operator.tsx'
import { ProviderLink } from './sign-in-form.tsx'
import { SignInLayout } from './sign-in-layout.tsx'

interface Opened {
  kind: 'setup' | 'invite' | 'reset'
  email?: string | undefined
  name?: string | undefined
}

const LABELS: Record<Opened['kind'], { title: string; description: string; done: string }> = {
  setup: {
    title: 'Set up this server',
    description: 'You become its first operator: you see to users, limits and what everyone may use.',
    done: 'Become the operator',
  },
  invite: { title: 'Welcome', description: 'Choose a password, and you are in.', done: 'Come in' },
  reset: {
    title: 'Choose a new password',
    description: 'You are signed out everywhere else.',
    done: 'Save and sign in',
  },
}

export function WelcomePage() {
  // Read once, because `takeToken` removes the token from the URL and the history.
  const [token] = useState(() => takeToken())
  const { data: link, error } = useQuery({
    queryKey: ['sign-in-link', token],
    queryFn: (): Promise<Opened> => answer(client.api.auth.link.$post({ json: { token } })),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
    enabled: token !== '',
  })
  if (token === '')
    return (
      <SignInLayout title="Open the link again">
        <p className="text-sm text-ink-muted">
          This page opens with the link that you were given: what makes it yours stands at its end. Open it once more.
        </p>
      </SignInLayout>
    )
  if (error)
    return (
      <SignInLayout title="This link does not work">
        <ProblemNotice error={error} />
        <Link to="/sign-in" className="text-sm underline underline-offset-2">
          Go to the sign-in page
        </Link>
      </SignInLayout>
    )
  if (!link) return <LoadingLink />
  return <Opening link={link} token={token} />
}

/** Without passwords, users sign in with the provider. */
function Opening({ link, token }: { link: Opened; token: string }) {
  const { data: session, error } = useQuery(sessionQuery())
  const { title, description } = LABELS[link.kind]
  if (error)
    return (
      <SignInLayout title={title}>
        <ProblemNotice error={error} />
      </SignInLayout>
    )
  if (!session) return <LoadingLink />
  const { password, oidc } = session.methods
  if (password || !oidc)
    return (
      <SignInLayout title={title} description={description}>
        <WelcomeForm link={link} token={token} />
      </SignInLayout>
    )
  if (link.kind === 'setup')
    return (
      <SignInLayout title={title} description={description}>
        <NameOperator token={token} provider={oidc.name} />
      </SignInLayout>
    )
  return (
    <SignInLayout title="Welcome" description={`Sign in with ${oidc.name}, as ${link.email}.`}>
      <ProviderLink name={oidc.name} returnTo="/connectors" />
    </SignInLayout>
  )
}

function LoadingLink() {
  return (
    <SignInLayout title="One moment">
      <div role="status">
        <span className="sr-only">Looking at the link</span>
        <Skeleton className="h-28 w-full" />
      </div>
    </SignInLayout>
  )
}

/** Takes the token from the URL fragment, or after a reload from the history state, which no server log contains. */
function takeToken(): string {
  const state: Record<string, unknown> = window.history.state ?? {}
  const token = window.location.hash.slice(1)
  if (!token) return typeof state.linkToken === 'string' ? state.linkToken : ''
  window.history.replaceState({ ...state, linkToken: token }, '', window.location.pathname)
  return token
}

function WelcomeForm({ link, token }: { link: Opened; token: string }) {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const enter = useMutation({
    mutationFn: (filled: Filled) => send(link.kind, filled),
    onSuccess: async () => {
      await (link.kind === 'reset' ? applyStoredTheme(queryClient) : saveTheme())
      await queryClient.invalidateQueries({ queryKey: ['session'] })
      navigate({ to: '/connectors', replace: true })
    },
  })
  const form = useAppForm({
    defaultValues: { email: link.email ?? '', name: link.name ?? '', password: '' },
    onSubmit: ({ value: { email, name, password } }) =>
      enter.mutateAsync({ token, email: email.trim(), name: name.trim(), password }),
  })
  return (
    <form onSubmit={onFormSubmit(form)} className="grid gap-4">
      {enter.error && <ProblemNotice error={enter.error} />}
      <form.AppField name="email">
        {(field) => (
          <field.TextField
            label="Email"
            type="email"
            autoComplete="username"
            required
            readOnly={link.kind !== 'setup'}
          />
        )}
      </form.AppField>
      {link.kind !== 'reset' && (
        <form.AppField name="name">
          {(field) => <field.TextField label="Name" autoComplete="name" required />}
        </form.AppField>
      )}
      <form.AppField name="password">
        {(field) => (
          <field.PasswordField label="New password" hint="At least 10 characters." autoComplete="new-password" />
        )}
      </form.AppField>
      <Button type="submit" variant="primary" className="h-10" aria-disabled={enter.isPending}>
        {enter.isPending ? 'One moment…' : LABELS[link.kind].done}
      </Button>
    </form>
  )
}

interface Filled {
  token: string
  email: string
  name: string
  password: string
}

function send(kind: Opened['kind'], { token, email, name, password }: Filled) {
  if (kind === 'setup') return answer(client.api.auth.setup.$post({ json: { token, email, name, password } }))
  if (kind === 'invite') return answer(client.api.auth.invite.$post({ json: { token, name, password } }))
  return answer(client.api.auth.reset.$post({ json: { token, password } }))
}
