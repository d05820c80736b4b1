import { useState } from 'react'
import type { Toolkit } from '../../../lib/api.ts'
import { Skeleton } from '../../../ui/data/skeleton.tsx'
import { Segmented } from '../../../ui/form/choice.tsx'
import { CodeEditor } from '../../../ui/form/code-editor.tsx'

const VIEWS = [
  { value: 'input', label: 'Takes' },
  { value: 'output', label: 'Gives' },
] as const

/** Input and output schema of a tool. */
export function ToolSchema({ tool }: { tool: Toolkit['tools'][number] }) {
  const [view, setView] = useState<'input' | 'output'>('input')
  const schema = view === 'input' ? tool.inputSchema : tool.outputSchema
  if (schema === undefined)
    return (
      <div role="status" className="h-28">
        <span className="sr-only">Loading the schema of {tool.name}</span>
        <Skeleton className="h-full w-full rounded-lg" />
      </div>
    )
  return (
    <div className="grid min-w-0 justify-items-start gap-2">
      {tool.outputSchema && (
        <Segmented label={`Schema of ${tool.name}`} value={view} options={VIEWS} onChange={setView} />
      )}
      <div className="w-full min-w-0">
        <CodeEditor
          key={view}
          label={`What ${tool.name} ${view === 'input' ? 'takes' : 'gives'}, as JSON Schema`}
          language="json"
          readOnly
          lines={4}
          value={JSON.stringify(schema, undefined, 2)}
        />
      </div>
    </div>
  )
}
