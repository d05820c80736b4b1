import { useQuery } from '@tanstack/react-query'
import { CircleCheck, ExternalLink } from 'lucide-react'
import { type Toolkit, toolkitsQuery } from '../../../lib/api.ts'
import { Button } from '../../../ui/form/button.tsx'
import { useSignIn } from '../../servers/use-sign-in.ts'
import { toolkitsOf } from './sign-in-refs.ts'

/** Sign-in buttons for the servers of these refs, or their signed-in state. */
export function SignInOffer({ refs }: { refs: readonly string[] }) {
  const { data: toolkits = [] } = useQuery({ ...toolkitsQuery(), enabled: refs.length > 0 })
  const wanted = toolkitsOf(refs).flatMap((id) => toolkits.find((item) => item.id === id) ?? [])
  if (wanted.length === 0) return null
  return (
    <ul className="mt-1 flex flex-wrap items-center gap-2">
      {wanted.map((toolkit) => (
        <li key={toolkit.uscoId}>
          <SignIn toolkit={toolkit} />
        </li>
      ))}
    </ul>
  )
}

function SignIn({ toolkit }: { toolkit: Toolkit }) {
  const signIn = useSignIn()
  if (toolkit.signIn?.status === 'signed-in' && toolkit.state.status !== 'sign-in-needed')
    return (
      <p role="status" className="flex items-center gap-1.5 text-sm text-good">
        <CircleCheck aria-hidden className="size-4" /> You are signed in to {toolkit.name}.
      </p>
    )
  return (
    <Button variant="primary" size="small" onClick={() => signIn(toolkit)}>
      <ExternalLink aria-hidden /> Sign in to {toolkit.name}
    </Button>
  )
}
