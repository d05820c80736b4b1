import { Download } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../../ui/form/button.tsx'
import { CodeEditor } from '../../../ui/form/code-editor.tsx'
import { FieldError, FieldHint } from '../../../ui/form/field.tsx'
import { readDefinition } from '../definition/read-definition.ts'
import { exportDefinition } from '../list/export-definition.ts'
import type { Editor } from './use-editor.ts'

/** The definition as JSON. Valid text updates list and graph at once. */
export function JsonEditor({ editor: { definition, change } }: { editor: Editor }) {
  const [text, setText] = useState(() => JSON.stringify(definition, null, 2))
  const read = readDefinition(text)
  const problem = 'problem' in read ? read : undefined
  const edit = (next: string) => {
    setText(next)
    const outcome = readDefinition(next)
    if ('definition' in outcome) change(outcome.definition)
  }
  return (
    <div className="grid gap-2">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <FieldHint>Changes here are in the list and the graph as soon as they can be read.</FieldHint>
        <Button size="small" onClick={() => exportDefinition(definition)}>
          <Download aria-hidden /> Export
        </Button>
      </div>
      <CodeEditor
        label="Definition as JSON"
        language="json"
        lines={24}
        value={text}
        onChange={edit}
        problems={problem ? [{ from: problem.at ?? 0, to: (problem.at ?? 0) + 1, message: problem.problem }] : []}
        aria-invalid={problem ? true : undefined}
        aria-describedby={problem ? 'definition-problem' : undefined}
      />
      {problem && <FieldError id="definition-problem">{problem.problem}</FieldError>}
    </div>
  )
}
