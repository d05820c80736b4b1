/** Shared types of the plain and the loaded code editor. */
export interface CodeProblem {
  /** Text offsets. */
  from: number
  to: number
  message: string
}

export interface CodeEditorProps {
  label: string
  value: string
  onChange?: (value: string) => void
  language: 'json' | 'typescript' | 'text'
  /** Problems to mark in the text. */
  problems?: readonly CodeProblem[]
  readOnly?: boolean
  /** Min visible lines. @default 8 */
  lines?: number
  id?: string
  'aria-describedby'?: string | undefined
  'aria-invalid'?: true | undefined
}

/** Selection of a focused editor, as text offsets. */
export interface FocusedRange {
  anchor: number
  head: number
}
