import { CopyButton } from '../../../ui/data/copy-button.tsx'
import { Button } from '../../../ui/form/button.tsx'
import { Dialog, DialogContent, DialogFooter, DialogHeader } from '../../../ui/overlay/dialog.tsx'
import type { User, UserLink } from '../queries.ts'

interface LinkDialogProps {
  user: User
  link: UserLink
  onClose: () => void
  onClosed: () => void
}

/** Shows a link once; its holder sets the password. */
export function LinkDialog({ user, link, onClose, onClosed }: LinkDialogProps) {
  const isReset = user.methods.length > 0
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()}>
      <DialogContent onClosed={onClosed}>
        <DialogHeader
          title={isReset ? `A new password for ${user.name}` : `An invitation for ${user.name}`}
          description="Give this link to them and to nobody else. It is shown once."
        />
        <LinkText link={link} />
        <DialogFooter>
          <Button variant="primary" onClick={onClose}>
            Done
          </Button>
        </DialogFooter>
      </DialogContent>
    </Dialog>
  )
}

export function LinkText({ link: { url, expiresAt } }: { link: UserLink }) {
  return (
    <div className="grid gap-3 px-4 py-5 sm:px-6">
      <p data-link className="rounded-lg border bg-sunken px-3 py-2 font-mono text-[0.8125rem] wrap-anywhere">
        {url}
      </p>
      <div className="flex flex-wrap items-center justify-between gap-2">
        <span className="text-sm text-ink-muted">Good once, until {new Date(expiresAt).toLocaleString()}.</span>
        <CopyButton text={() => url} label="Copy the link" />
      </div>
    </div>
  )
}
