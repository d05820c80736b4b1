import { Notice } from '../../../ui/data/notice.tsx'
import { SignInOffer } from '../editor/sign-in-offer.tsx'
import { signInRefs } from '../editor/sign-in-refs.ts'
import type { Run } from '../queries.ts'

interface Problem {
  message: string
  action?: string
}

// The page offers a sign-in button instead of the API's link.
const SIGN_IN = 'Sign in, then re-run from the step that failed.'

/** Failure of a run; preflight problems are listed with their fixes. */
export function RunFailure({ run }: { run: Run }) {
  const { error } = run
  if (!error) return null
  const refs = signInRefs(run)
  const problems = (error.problems ?? []) as unknown as Problem[]
  if (problems.length > 0)
    return (
      <Notice title="It was not begun" detail="Before anything was called, these were in the way." action="">
        <ul className="mt-1 grid list-disc gap-1 pl-4">
          {problems.map(({ message, action }) => (
            <li key={message} className="wrap-anywhere">
              {message} {action}
            </li>
          ))}
        </ul>
        <SignInOffer refs={refs} />
      </Notice>
    )
  return (
    <Notice
      title="It failed"
      detail={error.message}
      action={
        refs.length > 0 ? SIGN_IN : (error.action ?? 'Look at the step that failed, mend it, and re-run from there.')
      }
      reference={error.code}
    >
      <SignInOffer refs={refs} />
    </Notice>
  )
}
