/** Code editor that loads CodeMirror on first use, with a plain text field of the same size until then. */
import { lazy, type RefObject, Suspense, useLayoutEffect, useRef } from 'react'
import type { CodeEditorProps, FocusedRange } from './code-editor-types.ts'
import { Textarea } from './input.tsx'

export type { CodeEditorProps, CodeProblem } from './code-editor-types.ts'

const Loaded = lazy(() => import('./code-mirror.tsx').then(({ CodeMirror }) => ({ default: CodeMirror })))

export function CodeEditor(props: CodeEditorProps) {
  const focused = useRef<FocusedRange>(undefined)
  return (
    <Suspense fallback={<Plain {...props} focused={focused} />}>
      <Loaded {...props} focused={focused} />
    </Suspense>
  )
}

interface PlainProps extends CodeEditorProps {
  focused: RefObject<FocusedRange | undefined>
}

function Plain({ label, value, onChange, lines = 8, readOnly, id, focused }: PlainProps) {
  const field = useRef<HTMLTextAreaElement>(null)
  useLayoutEffect(() => {
    const textarea = field.current
    // Runs before React removes the field, so a user who is typing continues in the loaded editor.
    return () => {
      if (!textarea || document.activeElement !== textarea) return
      focused.current = { anchor: textarea.selectionStart, head: textarea.selectionEnd }
    }
  }, [focused])
  return (
    <Textarea
      ref={field}
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
