import { useQuery } from '@tanstack/react-query'
import { History, RotateCcw } from 'lucide-react'
import { useState } from 'react'
import { toast } from 'sonner'
import { ProblemNotice } from '../../../lib/problems.tsx'
import { Badge } from '../../../ui/data/badge.tsx'
import { counted } from '../../../ui/data/format-time.ts'
import { Skeleton } from '../../../ui/data/skeleton.tsx'
import { TimeAgo } from '../../../ui/data/time-ago.tsx'
import { Button } from '../../../ui/form/button.tsx'
import { CodeEditor } from '../../../ui/form/code-editor.tsx'
import { versionsQuery, type Workflow } from '../queries.ts'
import type { Editor } from './use-editor.ts'

interface VersionsViewProps {
  editor: Editor
  workflow: Workflow
  onRestored: () => void
}

/** Saved versions. Restoring one changes the draft; saving it creates the next version. */
export function VersionsView({ editor, workflow, onRestored }: VersionsViewProps) {
  const { data, error } = useQuery(versionsQuery(workflow.id))
  const [openVersion, setOpenVersion] = useState<number>()
  if (error && !data) return <ProblemNotice error={error} />
  if (!data)
    return (
      <div role="status" className="grid gap-2">
        <span className="sr-only">Loading versions</span>
        <Skeleton className="h-14 w-full rounded-xl" />
        <Skeleton className="h-14 w-full rounded-xl" />
      </div>
    )
  const restore = (version: Workflow) => {
    editor.change(version.definition)
    toast.success(`Version ${version.version} is in the editor`, { description: 'Save to make it the next version.' })
    onRestored()
  }
  return (
    <ol className="divide-y overflow-hidden rounded-xl border bg-surface shadow-flat">
      {data.map((version) => (
        <li key={version.workflowVersionId} className="grid gap-3 px-4 py-3 sm:px-5">
          <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
            <History aria-hidden className="size-4 text-ink-faint" strokeWidth={1.75} />
            <span className="text-sm font-medium">Version {version.version}</span>
            {version.version === workflow.version && <Badge>current</Badge>}
            <span className="flex-1 text-xs text-ink-muted">
              {counted(version.definition.nodes.length, 'node')} · saved <TimeAgo at={version.updatedAt} />
            </span>
            <Button
              size="small"
              aria-expanded={openVersion === version.version}
              onClick={() => setOpenVersion(openVersion === version.version ? undefined : version.version)}
            >
              {openVersion === version.version ? 'Hide' : 'View'}
              <span className="sr-only">version {version.version}</span>
            </Button>
            {version.version !== workflow.version && (
              <Button size="small" onClick={() => restore(version)}>
                <RotateCcw aria-hidden /> Restore
                <span className="sr-only">version {version.version}</span>
              </Button>
            )}
          </div>
          {openVersion === version.version && (
            <CodeEditor
              readOnly
              label={`Definition of version ${version.version}`}
              language="json"
              value={JSON.stringify(version.definition, null, 2)}
            />
          )}
        </li>
      ))}
    </ol>
  )
}
