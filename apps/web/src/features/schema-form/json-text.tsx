/** JSON editor of a value. Invalid text stays in the editor with its error and does not change the value. */
import { useId, useRef, useState } from 'react'
import { CodeEditor } from '../../ui/form/code-editor.tsx'
import { FieldError } from '../../ui/form/field.tsx'
import { inText } from './problem-paths.ts'
import { readJson } from './read-json.ts'
import type { ValueProblem } from './validator.ts'

export interface JsonTextProps {
  label: string
  value: unknown
  onChange: (value: unknown) => void
  /** Reports whether the text is valid JSON. */
  onText?: ((isReadable: boolean) => void) | undefined
  problems?: readonly ValueProblem[] | undefined
  readOnly?: boolean | undefined
  lines?: number
  id?: string
  'aria-describedby'?: string | undefined
}

const textOf = (value: unknown): string => (value === undefined ? '' : JSON.stringify(value, undefined, 2))

export function JsonText({ label, value, onChange, onText, problems = [], readOnly, ...rest }: JsonTextProps) {
  const [text, setText] = useState(() => textOf(value))
  const reported = useRef(value)
  const messageId = useId()
  // The value changed outside, so the text follows.
  if (value !== reported.current && textOf(value) !== textOf(reported.current)) {
    reported.current = value
    setText(textOf(value))
  }
  const read = readJson(text)
  const isEmpty = text.trim() === ''
  const mistake = read.ok || isEmpty ? undefined : read
  const visibleProblems = mistake
    ? [{ from: mistake.at, to: mistake.at + 1, message: mistake.message }]
    : inText(problems, read.ok ? read.node : undefined, value)
  const change = (next: string) => {
    setText(next)
    const outcome = readJson(next)
    const isReadable = outcome.ok || next.trim() === ''
    onText?.(isReadable)
    if (!isReadable) return
    reported.current = outcome.ok ? outcome.value : undefined
    onChange(reported.current)
  }
  const described = [rest['aria-describedby'], visibleProblems.length > 0 && messageId].filter(Boolean).join(' ')
  return (
    <div className="grid min-w-0 gap-1.5">
      <CodeEditor
        {...rest}
        label={label}
        value={text}
        language="json"
        problems={visibleProblems}
        onChange={change}
        {...(readOnly ? { readOnly: true } : {})}
        aria-invalid={visibleProblems.length > 0 ? true : undefined}
        aria-describedby={described || undefined}
      />
      <div id={messageId} aria-live="polite" className="grid gap-0.5 empty:hidden">
        {visibleProblems.map(({ from, message }) => (
          <FieldError key={`${from}-${message}`}>{message}</FieldError>
        ))}
      </div>
    </div>
  )
}
