import { Ban, CircleCheck, KeyRound, LogOut, ShieldCheck, ShieldOff, Trash2 } from 'lucide-react'
import { Badge } from '../../../ui/data/badge.tsx'
import { TimeAgo } from '../../../ui/data/time-ago.tsx'
import { ActionsMenu } from '../../../ui/overlay/actions-menu.tsx'
import { MenuItem } from '../../../ui/overlay/menu.tsx'
import type { User, UserLink } from '../queries.ts'
import { useChangeUser, useMakeLink, useSignOutUser } from './use-users.ts'

export const userMenuId = ({ id }: User): string => `actions-user-${id}`

interface UserRowProps {
  user: User
  isMe: boolean
  onLink: (link: UserLink) => void
  onRemove: () => void
}

export function UserRow(props: UserRowProps) {
  const { user, isMe } = props
  return (
    <li className="flex items-start gap-3 px-4 py-3 sm:px-5">
      <div className="grid min-w-0 flex-1 gap-0.5">
        <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <h3 className="min-w-0 font-medium wrap-anywhere">{user.name}</h3>
          {isMe && <Badge>you</Badge>}
          {user.operator && <Badge>operator</Badge>}
          {user.disabled && <Badge className="border-transparent bg-bad-soft text-bad">disabled</Badge>}
          {user.methods.length === 0 && !user.disabled && <Badge>invited</Badge>}
        </div>
        <p className="text-[0.8125rem] wrap-anywhere text-ink-muted">
          {user.email}
          {user.lastSignInAt && (
            <>
              {' '}
              · last signed in <TimeAgo at={user.lastSignInAt} />
            </>
          )}
          {user.methods.includes('oidc') && ' · by single sign-on'}
        </p>
      </div>
      <UserMenu {...props} />
    </li>
  )
}

function UserMenu({ user, isMe, onLink, onRemove }: UserRowProps) {
  const change = useChangeUser()
  const makeLink = useMakeLink()
  const signOut = useSignOutUser()
  return (
    <ActionsMenu id={userMenuId(user)} of={user.name} className="min-w-56">
      <MenuItem onSelect={() => makeLink.mutate(user, { onSuccess: onLink })}>
        <KeyRound aria-hidden /> {user.methods.length === 0 ? 'New invitation link' : 'Password reset link'}
      </MenuItem>
      <MenuItem onSelect={() => change.mutate({ user, operator: !user.operator })}>
        {user.operator ? <ShieldOff aria-hidden /> : <ShieldCheck aria-hidden />}
        {user.operator ? 'Make a plain user' : 'Make an operator'}
      </MenuItem>
      <MenuItem onSelect={() => signOut.mutate(user)}>
        <LogOut aria-hidden /> Sign out everywhere
      </MenuItem>
      {!isMe && (
        <MenuItem onSelect={() => change.mutate({ user, disabled: !user.disabled })}>
          {user.disabled ? <CircleCheck aria-hidden /> : <Ban aria-hidden />}
          {user.disabled ? 'Enable' : 'Disable'}
        </MenuItem>
      )}
      {!isMe && (
        <MenuItem danger onSelect={onRemove}>
          <Trash2 aria-hidden /> Delete
        </MenuItem>
      )}
    </ActionsMenu>
  )
}
