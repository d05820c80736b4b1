import { useState } from 'react'
import { problemOf } from '../../../lib/api.ts'
import { ProblemNotice } from '../../../lib/problems.tsx'
import { Button } from '../../../ui/form/button.tsx'
import { DialogForm, focusFirstField } from '../../../ui/form/dialog-form.tsx'
import { Field } from '../../../ui/form/field.tsx'
import { Input } from '../../../ui/form/input.tsx'
import { Switch } from '../../../ui/form/switch.tsx'
import { Dialog, DialogContent, DialogFooter, DialogHeader } from '../../../ui/overlay/dialog.tsx'
import { LinkText } from './link-dialog.tsx'
import { useInvite } from './use-users.ts'

/** Creates a user and shows the invitation link. */
export function InviteDialog({ onClose, onClosed }: { onClose: () => void; onClosed: () => void }) {
  const [email, setEmail] = useState('')
  const [name, setName] = useState('')
  const [operator, setOperator] = useState(false)
  const invite = useInvite()
  const errors = invite.error ? (problemOf(invite.error).errors ?? []) : []
  const errorAt = (path: string) => errors.find((problem) => problem.path === path)?.message
  const submit = () =>
    invite.mutate({ email: email.trim(), operator, ...(name.trim() === '' ? {} : { name: name.trim() }) })
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()}>
      <DialogContent onOpened={focusFirstField} onClosed={onClosed} keepOpen={email !== ''}>
        <DialogHeader
          title={invite.data ? `${invite.data.user.name} is invited` : 'Invite somebody'}
          description={
            invite.data
              ? 'Give this link to them and to nobody else. It is shown once.'
              : 'You get a link to give to them.'
          }
        />
        {invite.data ? (
          <>
            <LinkText link={invite.data.link} />
            <DialogFooter>
              <Button variant="primary" onClick={onClose}>
                Done
              </Button>
            </DialogFooter>
          </>
        ) : (
          <DialogForm
            submit="Make the link"
            busy={invite.isPending && 'Inviting…'}
            onSubmit={submit}
            onCancel={onClose}
          >
            {invite.error && <ProblemNotice error={invite.error} folded={errors.length > 0} />}
            <Field label="Email" error={errorAt('email') && `Email ${errorAt('email')}.`}>
              {(control) => (
                <Input {...control} type="email" value={email} onChange={({ target }) => setEmail(target.value)} />
              )}
            </Field>
            <Field optional label="Name" error={errorAt('name')}>
              {(control) => <Input {...control} value={name} onChange={({ target }) => setName(target.value)} />}
            </Field>
            <div className="flex items-start justify-between gap-4">
              <span className="grid gap-0.5 text-sm">
                <span className="font-medium">Operator</span>
                <span className="text-ink-muted">May change what holds for everyone, and invite others.</span>
              </span>
              <Switch aria-label="Operator" checked={operator} onCheckedChange={setOperator} />
            </div>
          </DialogForm>
        )}
      </DialogContent>
    </Dialog>
  )
}
