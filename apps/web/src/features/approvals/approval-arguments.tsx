import { PencilLine, Undo2 } from 'lucide-react'
import { VisibleText } from '../../ui/data/visible-text.tsx'
import { Button } from '../../ui/form/button.tsx'
import { ValueEditor } from '../schema-form/schema-form.tsx'
import type { Approval } from './queries.ts'
import type { ApprovalTool } from './risk.ts'
import type { Edit } from './use-edit.ts'

const MASK = '••••'

interface ArgumentsProps {
  approval: Approval
  tool: ApprovalTool
  edit: Edit
  isOpen: boolean
}

/** Arguments of the call, editable if the rule permits it. */
export function ApprovalArguments({ approval, tool, edit, isOpen }: ArgumentsProps) {
  const text = JSON.stringify(approval.arguments, undefined, 2)
  if (edit.isOpen && isOpen)
    return (
      <div className="grid gap-3 rounded-lg border border-line p-3">
        <ValueEditor
          label={`Arguments of ${tool.title}`}
          schema={tool.inputSchema}
          value={edit.value}
          onChange={edit.change}
          problems={edit.problems}
          onReadable={edit.setReadable}
        />
        <Button size="small" variant="quiet" className="w-fit" onClick={edit.drop}>
          <Undo2 aria-hidden /> Leave them as they were
        </Button>
      </div>
    )
  return (
    <div className="grid gap-2">
      {text === '{}' ? (
        <p className="text-[0.8125rem] text-ink-muted">It is called without arguments.</p>
      ) : (
        <section
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll container must be reachable by keyboard
          tabIndex={0}
          aria-label={`Arguments of ${tool.title}`}
          className="max-h-64 overflow-auto rounded-lg border border-line bg-sunken p-3"
        >
          <pre className="font-mono text-[0.8125rem] leading-relaxed wrap-anywhere whitespace-pre-wrap">
            <VisibleText text={text} />
          </pre>
        </section>
      )}
      {text.includes(MASK) && (
        <p className="text-[0.8125rem] text-ink-muted">Secrets are masked here; the call has them.</p>
      )}
      {approval.allowEdits && isOpen && (
        <Button size="small" variant="quiet" className="w-fit" onClick={edit.begin}>
          <PencilLine aria-hidden /> Edit the arguments
        </Button>
      )}
    </div>
  )
}
