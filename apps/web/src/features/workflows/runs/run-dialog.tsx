import { useNavigate } from '@tanstack/react-router'
import { Play } from 'lucide-react'
import { useState } from 'react'
import { problemOf } from '../../../lib/api.ts'
import { ProblemNotice } from '../../../lib/problems.tsx'
import { Button } from '../../../ui/form/button.tsx'
import { Dialog, DialogContent, DialogFooter, DialogHeader } from '../../../ui/overlay/dialog.tsx'
import { ValueEditor } from '../../schema-form/schema-form.tsx'
import type { JsonObject } from '../definition/definition.ts'
import type { Workflow } from '../queries.ts'
import { useStartRun } from '../use-workflows.ts'

interface RunDialogProps {
  workflow: Workflow
  /** Input of an earlier run. */
  initial?: unknown
  onClose: () => void
  onClosed: () => void
}

/** Asks for inputs, starts the run and opens its page. */
export function RunDialog({ workflow, initial, onClose, onClosed }: RunDialogProps) {
  const navigate = useNavigate()
  const start = useStartRun()
  const schema = workflow.definition.input ?? { type: 'object' }
  const [input, setInput] = useState<unknown>(initial ?? defaultsOf(schema))
  const [isReadable, setReadable] = useState(true)
  const hasInputs = Object.keys((schema.properties as JsonObject | undefined) ?? {}).length > 0
  const run = () => {
    if (start.isPending || !isReadable) return
    start.mutate(
      { workflowId: workflow.id, input },
      { onSuccess: ({ runId }) => navigate({ to: '/runs/$id', params: { id: runId } }) },
    )
  }
  const errors = start.error ? (problemOf(start.error).errors ?? []) : []
  const placed = errors.filter(({ path }) => path === 'input' || path.startsWith('input.'))
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()}>
      <DialogContent onClosed={onClosed}>
        <DialogHeader title={`Run ${workflow.name}`} description={`Version ${workflow.version}.`} />
        <div className="grid min-h-0 flex-1 content-start gap-5 overflow-y-auto px-4 py-5 sm:px-6">
          {start.error && (
            <ProblemNotice error={start.error} folded={placed.length > 0 && placed.length === errors.length} />
          )}
          {hasInputs ? (
            <ValueEditor
              label="Inputs"
              schema={schema}
              value={input}
              onChange={setInput}
              onReadable={setReadable}
              problems={placed.map(({ path, message }) => ({
                path: path.replace(/^input\.?/, '') || '(root)',
                message,
              }))}
            />
          ) : (
            <p className="text-sm text-ink-muted">It takes no inputs.</p>
          )}
        </div>
        <DialogFooter>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" aria-disabled={start.isPending || !isReadable} onClick={run}>
            <Play aria-hidden /> {start.isPending ? 'Starting…' : 'Run'}
          </Button>
        </DialogFooter>
      </DialogContent>
    </Dialog>
  )
}

function defaultsOf({ properties }: JsonObject): JsonObject {
  const fields = Object.entries((properties ?? {}) as Record<string, { default?: unknown } | undefined>)
  return Object.fromEntries(
    fields.flatMap(([name, field]) => (field && 'default' in field ? [[name, field.default]] : [])),
  )
}
