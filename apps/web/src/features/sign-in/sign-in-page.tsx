import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Navigate, useRouter } from '@tanstack/react-router'
import { BASE_PATH } from '../../lib/base-path.ts'
import { ProblemNotice } from '../../lib/problems.tsx'
import { applyStoredTheme } from '../../lib/theme.ts'
import { Notice } from '../../ui/data/notice.tsx'
import { Skeleton } from '../../ui/data/skeleton.tsx'
import { sessionQuery } from '../shell/session.ts'
import { SignInForm } from './sign-in-form.tsx'
import { SignInLayout } from './sign-in-layout.tsx'

const route = getRouteApi('/sign-in')

export function SignInPage() {
  const { returnTo = '/connectors', problem } = route.useSearch()
  const { data: session, error } = useQuery(sessionQuery())
  const queryClient = useQueryClient()
  const router = useRouter()
  const enter = async () => {
    await applyStoredTheme(queryClient)
    await queryClient.invalidateQueries()
    router.history.replace(`${BASE_PATH}${returnTo}`)
  }
  if (session?.user) return <Navigate to={returnTo} replace />
  if (session?.setupNeeded) return <NobodyYet />
  return (
    <SignInLayout title="Sign in" description="Your servers, threads and keys are yours alone.">
      {problem && <Notice {...describeProblem(problem, session?.methods.password === false)} />}
      {error && <ProblemNotice error={error} />}
      {session ? <SignInForm returnTo={returnTo} onSignedIn={enter} /> : !error && <Waiting />}
    </SignInLayout>
  )
}

const FAILED = {
  title: 'That did not work',
  detail: 'The sign-in was not finished.',
  action: 'Try again. If it stays so, ask an operator.',
}
const PROBLEMS: Record<string, typeof FAILED> = {
  'no-account': {
    title: 'There is no account for you here',
    detail: 'You are known to the provider, not to this server.',
    action: 'Ask an operator to invite you.',
  },
  'sign-in-link-invalid': {
    title: 'That took too long',
    detail: 'The sign-in was begun somewhere else, or too long ago.',
    action: 'Try again from here.',
  },
  'server-unreachable': {
    title: 'The sign-in provider does not answer',
    detail: 'This server could not reach it, or it does not say what is needed.',
    action: 'Try again in a while. If it stays so, ask an operator.',
  },
  'limit-reached': {
    title: 'Too many attempts',
    detail: 'There were too many attempts to sign in from where you are.',
    action: 'Try again in a quarter of an hour, or ask an operator.',
  },
}

/** A named operator with another email at the provider gets a hint for the setup link. */
function describeProblem(problem: string, byProviderAlone: boolean) {
  const notice = PROBLEMS[problem] ?? FAILED
  if (problem !== 'no-account' || !byProviderAlone) return notice
  return {
    ...notice,
    action: `${notice.action} Who sets up the server opens its link again, with the email of the provider.`,
  }
}

function NobodyYet() {
  return (
    <SignInLayout title="Nobody operates this server yet">
      <p className="text-sm text-ink-muted">
        At its start the server printed a link that makes the first operator. Open it once, in this browser. Where it is
        too old, start the server again: it prints a new one.
      </p>
    </SignInLayout>
  )
}

function Waiting() {
  return (
    <div role="status" className="grid gap-4">
      <span className="sr-only">Looking who you are</span>
      <Skeleton className="h-9 w-full" />
      <Skeleton className="h-9 w-full" />
      <Skeleton className="h-10 w-full" />
    </div>
  )
}
