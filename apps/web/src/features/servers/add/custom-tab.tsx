import { Link } from '@tanstack/react-router'
import { ArrowRight } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from '../../../ui/form/button.tsx'
import { DialogFooter } from '../../../ui/overlay/dialog.tsx'

/** Links to the custom toolkit editor, which is a page. */
export function CustomTab({ tabs, onClose }: { tabs: ReactNode; onClose: () => void }) {
  return (
    <>
      <div className="grid min-h-0 flex-1 content-start gap-5 overflow-y-auto px-4 py-5 sm:px-6">
        {tabs}
        <div className="grid gap-2 text-sm text-ink-muted">
          <p>
            A custom toolkit has no server. Each of its tools is a name, a schema of what it takes, and some JavaScript
            or TypeScript that runs in a sandbox: it may call other tools of yours, and fetch from hosts that it names.
          </p>
          <p>You write it as a form or as JSON, and try each tool before you save.</p>
        </div>
      </div>
      <DialogFooter>
        <Button onClick={onClose}>Cancel</Button>
        <Link
          to="/connectors/custom/$id"
          params={{ id: 'new' }}
          className="inline-flex h-9 items-center gap-2 rounded-lg bg-ink px-3.5 text-sm font-medium text-canvas transition-colors hover:bg-ink/88"
        >
          Open the editor <ArrowRight aria-hidden className="size-4" />
        </Link>
      </DialogFooter>
    </>
  )
}
