import { useStore } from '@tanstack/react-form'
import { problemOf } from '../../../lib/api.ts'
import { submitForm, useAppForm } from '../../../lib/form.tsx'
import { ProblemNotice } from '../../../lib/problems.tsx'
import { Button } from '../../../ui/form/button.tsx'
import { DialogForm, focusFirstField } from '../../../ui/form/dialog-form.tsx'
import { Switch } from '../../../ui/form/switch.tsx'
import { Dialog, DialogContent, DialogFooter, DialogHeader } from '../../../ui/overlay/dialog.tsx'
import { LinkText } from './link-dialog.tsx'
import { useInvite } from './use-users.ts'

/** Creates a user and shows the invitation link. */
export function InviteDialog({ onClose, onClosed }: { onClose: () => void; onClosed: () => void }) {
  const invite = useInvite()
  const errors = invite.error ? (problemOf(invite.error).errors ?? []) : []
  const form = useAppForm({
    defaultValues: { email: '', name: '', operator: false },
    onSubmit: ({ value: { email, name, operator } }) =>
      invite.mutateAsync({ email: email.trim(), operator, ...(name.trim() === '' ? {} : { name: name.trim() }) }),
  })
  const hasEmail = useStore(form.store, ({ values }) => values.email !== '')
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()}>
      <DialogContent onOpened={focusFirstField} onClosed={onClosed} keepOpen={hasEmail}>
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
            onSubmit={() => submitForm(form)}
            onCancel={onClose}
          >
            {invite.error && <ProblemNotice error={invite.error} folded={errors.length > 0} />}
            <form.AppField name="email">{(field) => <field.TextField label="Email" type="email" />}</form.AppField>
            <form.AppField name="name">{(field) => <field.TextField optional label="Name" />}</form.AppField>
            <div className="flex items-start justify-between gap-4">
              <span className="grid gap-0.5 text-sm">
                <span className="font-medium">Operator</span>
                <span className="text-ink-muted">May change what holds for everyone, and invite others.</span>
              </span>
              <form.Field name="operator">
                {({ state, handleChange }) => (
                  <Switch aria-label="Operator" checked={state.value} onCheckedChange={handleChange} />
                )}
              </form.Field>
            </div>
          </DialogForm>
        )}
      </DialogContent>
    </Dialog>
  )
}
