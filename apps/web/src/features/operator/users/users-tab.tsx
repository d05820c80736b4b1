import { useInfiniteQuery } from '@tanstack/react-query'
import { UserPlus, Users } from 'lucide-react'
import { useState } from 'react'
import { ProblemNotice } from '../../../lib/problems.tsx'
import { Empty } from '../../../ui/data/empty.tsx'
import { Button } from '../../../ui/form/button.tsx'
import { Confirm } from '../../../ui/overlay/alert-dialog.tsx'
import { useSession } from '../../shell/session.ts'
import { type User, type UserLink, usersQuery } from '../queries.ts'
import { Loading, Section } from '../section.tsx'
import { InviteDialog } from './invite-dialog.tsx'
import { LinkDialog } from './link-dialog.tsx'
import { useRemoveUser } from './use-users.ts'
import { UserRow, userMenuId } from './user-row.tsx'

const INVITE = 'invite-user'

export function UsersTab() {
  const session = useSession()
  if (!session) return <Loading label="Loading users" />
  if (session.mode === 'local') return <SingleUserNotice />
  return <UserList me={session.user?.id} />
}

function SingleUserNotice() {
  return (
    <Empty icon={Users} title="One user, without sign-in">
      <p>
        This Loadout runs in local mode: whoever reaches it on this machine is its one user. Start it with{' '}
        <code className="font-mono text-[0.9em]">LOADOUT_MODE=multi-user</code> and a database to invite others.
      </p>
    </Empty>
  )
}

function UserList({ me }: { me: string | undefined }) {
  const { data, error, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(usersQuery())
  const [isInviting, setInviting] = useState(false)
  const [link, setLink] = useState<{ user: User; link: UserLink }>()
  const [removing, setRemoving] = useState<User>()
  if (error && !data) return <ProblemNotice error={error} />
  if (!data) return <Loading label="Loading users" />
  return (
    <Section
      title="Users"
      note="Who can sign in. An invitation is a link that you give to them; it is good once."
      actions={
        <Button id={INVITE} variant="primary" onClick={() => setInviting(true)}>
          <UserPlus aria-hidden /> Invite
        </Button>
      }
    >
      <ul className="divide-y overflow-hidden rounded-xl border bg-surface shadow-flat">
        {data.pages
          .flatMap(({ items }) => items)
          .map((user) => (
            <UserRow
              key={user.id}
              user={user}
              isMe={user.id === me}
              onLink={(made) => setLink({ user, link: made })}
              onRemove={() => setRemoving(user)}
            />
          ))}
      </ul>
      {hasNextPage && (
        <p>
          <Button aria-disabled={isFetchingNextPage} onClick={() => fetchNextPage()}>
            {isFetchingNextPage ? 'Loading…' : 'Show more'}
          </Button>
        </p>
      )}
      {isInviting && (
        <InviteDialog onClose={() => setInviting(false)} onClosed={() => document.getElementById(INVITE)?.focus()} />
      )}
      {link && (
        <LinkDialog
          {...link}
          onClose={() => setLink(undefined)}
          onClosed={() => document.getElementById(userMenuId(link.user))?.focus()}
        />
      )}
      {removing && <RemoveUser user={removing} onClose={() => setRemoving(undefined)} />}
    </Section>
  )
}

function RemoveUser({ user, onClose }: { user: User; onClose: () => void }) {
  const remove = useRemoveUser(onClose)
  return (
    <Confirm
      title={`Delete ${user.name}?`}
      cancel="Keep them"
      confirm={remove.isPending ? 'Deleting…' : 'Delete user'}
      busy={remove.isPending}
      onCancel={onClose}
      onConfirm={() => remove.mutate(user)}
      onClosed={() => (document.getElementById(userMenuId(user)) ?? document.getElementById(INVITE))?.focus()}
    >
      <p>
        Their servers, threads, workflows, runs and keys go with them, and the log no longer names them. This cannot be
        undone. To keep what is theirs, disable them instead.
      </p>
      {remove.error && <ProblemNotice error={remove.error} />}
    </Confirm>
  )
}
