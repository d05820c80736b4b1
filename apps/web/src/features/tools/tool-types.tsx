/** Schemas of a tool and its TypeScript declaration for programs. */
import { useQuery } from '@tanstack/react-query'
import { CircleSlash } from 'lucide-react'
import { ProblemNotice } from '../../lib/problems.tsx'
import { CopyButton } from '../../ui/data/copy-button.tsx'
import { Skeleton } from '../../ui/data/skeleton.tsx'
import { CodeEditor } from '../../ui/form/code-editor.tsx'
import { JsonTree } from '../results/json-tree.tsx'
import { declarationQuery } from './queries.ts'
import type { LocatedTool } from './tool-rows.ts'

const MAX_LINES = 24

export function Declaration({ located: { toolkit, tool } }: { located: LocatedTool }) {
  const { data, error } = useQuery(declarationQuery(toolkit.uscoId, tool.name))
  if (error && !data) return <ProblemNotice error={error} />
  if (!data)
    return (
      <div role="status" className="grid gap-3">
        <span className="sr-only">Loading the declaration</span>
        <Skeleton className="h-4 w-1/2" />
        <Skeleton className="h-32 w-full rounded-lg" />
      </div>
    )
  const { text, name, uncallable } = data
  return (
    <div className="grid min-w-0 gap-3">
      <div className="flex items-start gap-3">
        <p className="min-w-0 flex-1 py-1.5 text-[0.8125rem] text-ink-muted">
          A program calls it as <code className="font-mono wrap-anywhere text-ink">await {name}(…)</code>
        </p>
        <CopyButton label={`Copy the declaration of ${tool.name}`} text={() => text} />
      </div>
      {uncallable && (
        <p className="flex gap-2 rounded-lg border bg-sunken px-3 py-2 text-[0.8125rem] text-ink-muted">
          <CircleSlash aria-hidden className="mt-0.5 size-3.5 shrink-0" />
          <span className="min-w-0 wrap-anywhere">None of your programs can call it now. {uncallable}</span>
        </p>
      )}
      <CodeEditor
        label={`${tool.name} as a program sees it, in TypeScript`}
        language="typescript"
        readOnly
        lines={Math.min(MAX_LINES, text.trimEnd().split('\n').length)}
        value={text.trimEnd()}
      />
    </div>
  )
}

export function SchemaView({ schema, label }: { schema: unknown; label: string }) {
  return (
    <div className="grid min-w-0 gap-2">
      <div className="flex justify-end">
        <CopyButton label={`Copy the ${label.toLowerCase()}`} text={() => JSON.stringify(schema, undefined, 2)} />
      </div>
      <JsonTree value={schema} label={label} />
    </div>
  )
}
