import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { toast } from 'sonner'
import { answer, client } from '../../lib/api.ts'
import { onFormSubmit, useAppForm } from '../../lib/form.tsx'
import { ProblemNotice, toastProblem } from '../../lib/problems.tsx'
import { Badge } from '../../ui/data/badge.tsx'
import { TimeAgo } from '../../ui/data/time-ago.tsx'
import { Button } from '../../ui/form/button.tsx'
import { Loading, Section } from '../operator/section.tsx'
import type { Session } from '../shell/session.ts'
import { formatBrowser } from './format-browser.ts'
import { type SignInSession, sessionsQuery } from './queries.ts'

export function AccountTab({ session }: { session: Session }) {
  return (
    <>
      {session.user && (
        <Section title="You">
          <p className="text-sm">
            {session.user.name}{' '}
            {session.user.email !== session.user.name && <span className="text-ink-muted">{session.user.email}</span>}
          </p>
        </Section>
      )}
      {session.methods.password && <PasswordSection provider={session.methods.oidc?.name} />}
      <SessionsSection />
    </>
  )
}

const MIN_PASSWORD_LENGTH = 10
const EMPTY = { current: '', password: '', again: '' }

function PasswordSection({ provider }: { provider: string | undefined }) {
  const change = useMutation({
    mutationFn: ({ current, password }: typeof EMPTY) =>
      answer(client.api.auth.password.$post({ json: { current, password } })),
    onSuccess: () => {
      form.reset()
      toast.success('Password changed', { description: 'Your other sessions have ended.' })
    },
  })
  const form = useAppForm({
    defaultValues: EMPTY,
    validators: { onSubmit: ({ value }) => ({ fields: passwordErrors(value) }) },
    onSubmit: ({ value }) => change.mutateAsync(value),
  })
  return (
    <Section
      title="Password"
      note={`Changing it ends your other sessions.${provider === undefined ? '' : ` Who always came by ${provider} has none: an operator gives you a link to choose one.`}`}
    >
      <form noValidate onSubmit={onFormSubmit(form)} className="grid max-w-md gap-4">
        {change.error && <ProblemNotice error={change.error} />}
        <form.AppField name="current">
          {(field) => <field.PasswordField label="Present password" autoComplete="current-password" />}
        </form.AppField>
        <form.AppField name="password">
          {(field) => (
            <field.PasswordField
              label="New password"
              hint={`At least ${MIN_PASSWORD_LENGTH} characters.`}
              autoComplete="new-password"
            />
          )}
        </form.AppField>
        <form.AppField name="again">
          {(field) => <field.PasswordField label="New password again" autoComplete="new-password" />}
        </form.AppField>
        <Button type="submit" variant="primary" className="justify-self-start" aria-disabled={change.isPending}>
          {change.isPending ? 'Changing…' : 'Change password'}
        </Button>
      </form>
    </Section>
  )
}

const passwordErrors = ({ current, password, again }: typeof EMPTY) => ({
  current: current === '' ? 'Give your present password.' : undefined,
  password: password.length < MIN_PASSWORD_LENGTH ? `At least ${MIN_PASSWORD_LENGTH} characters.` : undefined,
  again: again !== password ? 'It is not the same.' : undefined,
})

function SessionsSection() {
  const { data: sessions, error } = useQuery(sessionsQuery())
  const queryClient = useQueryClient()
  const end = useMutation({
    mutationFn: (id: string | undefined) =>
      id === undefined
        ? answer(client.api.auth.sessions.$delete())
        : answer(client.api.auth.sessions[':id'].$delete({ param: { id } })),
    onError: toastProblem,
    onSettled: () => queryClient.invalidateQueries({ queryKey: sessionsQuery().queryKey }),
  })
  if (error && !sessions) return <ProblemNotice error={error} />
  if (!sessions) return <Loading label="Loading sessions" />
  return (
    <Section
      title="Sessions"
      note="Where you are signed in."
      actions={
        sessions.length > 1 && (
          <Button size="small" aria-disabled={end.isPending} onClick={() => end.mutate(undefined)}>
            End all others
          </Button>
        )
      }
    >
      <ul className="divide-y overflow-hidden rounded-xl border bg-surface shadow-flat">
        {sessions.map((session) => (
          <SessionRow key={session.id} session={session} onEnd={() => end.mutate(session.id)} />
        ))}
      </ul>
    </Section>
  )
}

function SessionRow({ session, onEnd }: { session: SignInSession; onEnd: () => void }) {
  const name = formatBrowser(session.userAgent)
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3 sm:px-5">
      <div className="grid min-w-0 flex-1 basis-56 gap-0.5">
        <p className="flex flex-wrap items-center gap-2 text-sm">
          <span className="min-w-0 font-medium wrap-anywhere" title={session.userAgent ?? undefined}>
            {name}
          </span>
          {session.current && <Badge>This one</Badge>}
        </p>
        <p className="text-[0.8125rem] text-ink-muted">
          {session.address ?? 'Unknown address'}, seen <TimeAgo at={session.lastSeenAt} />, ends{' '}
          <TimeAgo at={session.expiresAt} />
        </p>
      </div>
      {!session.current && (
        <Button size="small" aria-label={`End the session of ${name}`} onClick={onEnd}>
          End
        </Button>
      )}
    </li>
  )
}
