/** What the two editors of code have in common: the plain one and the one that comes later. */
export interface CodeProblem {
  /** Offsets into the text. */
  from: number
  to: number
  message: string
}

export interface CodeEditorProps {
  label: string
  value: string
  onChange?: (value: string) => void
  language: 'json' | 'typescript' | 'text'
  /** What is wrong and where; drawn at the place. */
  problems?: readonly CodeProblem[]
  readOnly?: boolean
  /** Lines that are shown at least. @default 8 */
  lines?: number
  id?: string
  'aria-describedby'?: string | undefined
  'aria-invalid'?: true | undefined
}

/** The selection of an editor that has the focus: offsets into the text. */
export interface FocusedRange {
  anchor: number
  head: number
}
