import { useBlocker } from '@tanstack/react-router'
import { problemOf } from '../../../lib/api.ts'
import { EditConflict } from '../../../lib/external-change.tsx'
import { ProblemNotice } from '../../../lib/problems.tsx'
import { Segmented } from '../../../ui/form/choice.tsx'
import { DialogForm, focusFirstField } from '../../../ui/form/dialog-form.tsx'
import { Switch } from '../../../ui/form/switch.tsx'
import { Confirm } from '../../../ui/overlay/alert-dialog.tsx'
import { Dialog, DialogContent, DialogHeader } from '../../../ui/overlay/dialog.tsx'
import { JsonText } from '../../schema-form/json-text.tsx'
import { isPlaced } from '../../servers/form/field-errors.ts'
import { ToolkitFields } from '../../servers/form/toolkit-form.tsx'
import type { AppToolkit } from '../queries.ts'
import { useAppToolkitForm } from './use-app-toolkit-form.ts'

interface AppToolkitDialogProps {
  toolkit: AppToolkit | undefined
  others: readonly AppToolkit[]
  onClose: () => void
  onClosed: () => void
}

export function AppToolkitDialog({ toolkit, others, onClose, onClosed }: AppToolkitDialogProps) {
  const work = useAppToolkitForm({ toolkit, others, onClose })
  const leaving = useBlocker({ shouldBlockFn: work.wouldLose, enableBeforeUnload: work.wouldLose, withResolver: true })
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()}>
      <DialogContent onOpened={focusFirstField} onClosed={onClosed} keepOpen={work.wouldLose()}>
        <DialogHeader
          title={toolkit ? `Edit ${toolkit.name}` : 'Add a global server'}
          description={toolkit ? `Its id, ${toolkit.id}, stays as it is.` : 'Every user has it at once.'}
        />
        <DialogForm
          submit={toolkit ? 'Save changes' : 'Add global server'}
          busy={work.save.isPending && 'Connecting…'}
          onSubmit={work.submit}
          onCancel={onClose}
        >
          {work.elsewhere && <EditConflict noun="server" {...work.elsewhere} />}
          {work.save.error && !work.elsewhere && (
            <ProblemNotice
              error={work.save.error}
              folded={work.format !== 'json' && isPlaced(problemOf(work.save.error).errors)}
            />
          )}
          <Segmented label="How it is described" value={work.format} options={work.formats} onChange={work.choose} />
          {work.format === 'json' ? (
            <JsonText
              label="Record of the server"
              value={work.record}
              onChange={work.setRecord}
              lines={12}
              problems={work.recordProblems}
            />
          ) : (
            <ToolkitFields form={work.form} />
          )}
          <Shared isShared={work.isShared} onChange={work.setShared} />
        </DialogForm>
        {leaving.status === 'blocked' && (
          <Confirm
            title="Discard what you entered?"
            cancel="Keep editing"
            confirm="Discard"
            onCancel={leaving.reset}
            onConfirm={leaving.proceed}
            onClosed={() => {}}
          >
            <p>Nothing of it has been saved.</p>
          </Confirm>
        )}
      </DialogContent>
    </Dialog>
  )
}

function Shared({ isShared, onChange }: { isShared: boolean; onChange: (isShared: boolean) => void }) {
  return (
    <div className="flex items-start justify-between gap-4 rounded-lg border p-3.5">
      <div className="grid gap-0.5 text-sm">
        <span className="font-medium">One connection for all users</span>
        <span id="shared-note" className="text-ink-muted">
          Only where the server keeps nothing of any user. Otherwise each user has a connection of their own.
        </span>
      </div>
      <Switch
        aria-label="One connection for all users"
        aria-describedby="shared-note"
        checked={isShared}
        onCheckedChange={onChange}
      />
    </div>
  )
}
