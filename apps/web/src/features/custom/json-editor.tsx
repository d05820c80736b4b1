import { useMemo } from 'react'
import { CodeEditor } from '../../ui/form/code-editor.tsx'
import { FieldError } from '../../ui/form/field.tsx'
import { inRecordText } from './custom-problems.ts'
import type { RecordState } from './use-record.ts'

const MAX_PROBLEMS = 20

/** JSON editor with problems marked in the text and listed below with their line. */
export function RecordText({ state }: { state: RecordState }) {
  const { text, problems, setText } = state
  const found = useMemo(() => inRecordText(text, problems), [text, problems])
  return (
    <div className="grid min-w-0 gap-2">
      <CodeEditor
        label="The toolkit as JSON"
        language="json"
        lines={24}
        value={text}
        problems={found}
        aria-invalid={found.length > 0 ? true : undefined}
        aria-describedby="json-problems"
        onChange={setText}
      />
      <div id="json-problems" role="status" className="grid gap-1 empty:hidden">
        {found.slice(0, MAX_PROBLEMS).map(({ from, message }) => (
          <FieldError key={`${from} ${message}`}>
            Line {text.slice(0, from).split('\n').length}: {message}
          </FieldError>
        ))}
        {state.warnings.map((warning) => (
          <p key={warning} className="text-[0.8125rem] wrap-anywhere text-ink-muted">
            {warning}.
          </p>
        ))}
      </div>
    </div>
  )
}
