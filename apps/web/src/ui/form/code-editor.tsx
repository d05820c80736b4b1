/** The editor of code, whose own code (CodeMirror) comes when the first one is shown. Until then, and with the same size, a plain text field. */
import { lazy, Suspense } from 'react'
import type { CodeEditorProps } from './code-editor-types.ts'
import { Textarea } from './input.tsx'

export type { CodeEditorProps, CodeProblem } from './code-editor-types.ts'

const Loaded = lazy(() => import('./code-mirror.tsx').then(({ CodeMirror }) => ({ default: CodeMirror })))

export function CodeEditor(props: CodeEditorProps) {
  return (
    <Suspense fallback={<Plain {...props} />}>
      <Loaded {...props} />
    </Suspense>
  )
}

function Plain({ label, value, onChange, lines = 8, readOnly, id }: CodeEditorProps) {
  return (
    <Textarea
      id={id}
      aria-label={label}
      value={value}
      readOnly={readOnly}
      onChange={(event) => onChange?.(event.target.value)}
      style={{ minHeight: `${lines * 1.375 + 1}rem` }}
      className="font-mono text-[0.8125rem]"
    />
  )
}
