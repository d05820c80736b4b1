import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { KeyRound, Plus } from 'lucide-react'
import { useState } from 'react'
import { toast } from 'sonner'
import { answer, client } from '../../lib/api.ts'
import { ProblemNotice } from '../../lib/problems.tsx'
import { Badge } from '../../ui/data/badge.tsx'
import { Empty } from '../../ui/data/empty.tsx'
import { TimeAgo } from '../../ui/data/time-ago.tsx'
import { Button } from '../../ui/form/button.tsx'
import { Confirm } from '../../ui/overlay/alert-dialog.tsx'
import { Loading, Section } from '../operator/section.tsx'
import { NewKeyDialog } from './new-key-dialog.tsx'
import { type ApiKey, keysQuery } from './queries.ts'

const NEW_BUTTON = 'new-api-key'
const focusNew = () => document.getElementById(NEW_BUTTON)?.focus()

export function KeysTab() {
  const { data: keys, error } = useQuery(keysQuery())
  const [making, setMaking] = useState(false)
  const [revoking, setRevoking] = useState<ApiKey>()
  return (
    <Section
      title="API keys"
      note="For apps and scripts that call Loadout for you. A key is shown once, when it is made."
      actions={
        <Button id={NEW_BUTTON} onClick={() => setMaking(true)}>
          <Plus aria-hidden /> New key
        </Button>
      }
    >
      {error && <ProblemNotice error={error} />}
      {!keys && !error && <Loading label="Loading API keys" />}
      {keys?.length === 0 && (
        <Empty icon={KeyRound} title="No API keys">
          Sent as <code className="font-mono">Authorization: Bearer lo_…</code>, a key does what its scopes allow, in
          your name. Without one, nothing but this page reaches your tools.
        </Empty>
      )}
      {keys && keys.length > 0 && (
        <ul className="divide-y overflow-hidden rounded-xl border bg-surface shadow-flat">
          {keys.map((key) => (
            <KeyRow key={key.id} apiKey={key} onRevoke={() => setRevoking(key)} />
          ))}
        </ul>
      )}
      {making && <NewKeyDialog onClose={() => setMaking(false)} onClosed={focusNew} />}
      {revoking && <RevokeDialog apiKey={revoking} onClose={() => setRevoking(undefined)} onClosed={focusNew} />}
    </Section>
  )
}

function KeyRow({ apiKey, onRevoke }: { apiKey: ApiKey; onRevoke: () => void }) {
  const { name, hint, scopes, role, createdAt, lastUsedAt, expiresAt } = apiKey
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3 sm:px-5">
      <div className="grid min-w-0 flex-1 basis-56 gap-1">
        <p className="flex flex-wrap items-baseline gap-x-2.5">
          <span className="font-medium wrap-anywhere">{name}</span>
          <code className="font-mono text-xs text-ink-muted">lo_…{hint}</code>
        </p>
        <p className="flex flex-wrap gap-1">
          {role === 'operator' && <Badge>operator</Badge>}
          {scopes.map((scope) => (
            <Badge key={scope}>{scope}</Badge>
          ))}
        </p>
        <p className="text-[0.8125rem] text-ink-muted">
          Made <TimeAgo at={createdAt} />,{' '}
          {lastUsedAt ? (
            <>
              used <TimeAgo at={lastUsedAt} />
            </>
          ) : (
            'never used'
          )}
          ,{' '}
          {expiresAt ? (
            <>
              ends <TimeAgo at={expiresAt} />
            </>
          ) : (
            'never ends'
          )}
        </p>
      </div>
      <Button size="small" aria-label={`Revoke ${name}`} onClick={onRevoke}>
        Revoke
      </Button>
    </li>
  )
}

interface RevokeDialogProps {
  apiKey: ApiKey
  onClose: () => void
  onClosed: () => void
}

function RevokeDialog({ apiKey, onClose, onClosed }: RevokeDialogProps) {
  const queryClient = useQueryClient()
  const revoke = useMutation({
    mutationFn: () => answer(client.api.keys[':id'].$delete({ param: { id: apiKey.id } })),
    onSuccess: () => {
      toast.success(`${apiKey.name} is revoked`)
      queryClient.invalidateQueries({ queryKey: ['keys'] })
      onClose()
    },
  })
  return (
    <Confirm
      title={`Revoke “${apiKey.name}”?`}
      cancel="Keep it"
      confirm={revoke.isPending ? 'Revoking…' : 'Revoke key'}
      busy={revoke.isPending}
      onCancel={onClose}
      onConfirm={() => revoke.mutate()}
      onClosed={onClosed}
    >
      <p>What uses it is refused from now on. This cannot be undone.</p>
      {revoke.error && <ProblemNotice error={revoke.error} />}
    </Confirm>
  )
}
