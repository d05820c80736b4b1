import { closeBrackets, closeBracketsKeymap } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { javascript } from '@codemirror/lang-javascript'
import { json } from '@codemirror/lang-json'
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language'
import { lintGutter, setDiagnostics } from '@codemirror/lint'
import { Compartment, EditorState, type Extension } from '@codemirror/state'
import { EditorView, highlightSpecialChars, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react'
import { styleNonce } from '../../lib/csp.ts'
import type { CodeEditorProps, FocusedRange } from './code-editor-types.ts'

const LANGUAGES: Record<CodeEditorProps['language'], () => Extension> = {
  json: () => json(),
  typescript: () => javascript({ typescript: true }),
  text: () => [],
}

// Tab moves the focus, so that keyboard users can leave the editor.
export function CodeMirror({ focused, ...props }: CodeEditorProps & { focused: RefObject<FocusedRange | undefined> }) {
  const container = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  const settings = useRef(new Compartment())
  const latest = useRef(props)
  latest.current = props

  // A layout effect, so that no key press is lost between the plain field and this editor.
  useLayoutEffect(() => {
    const parent = container.current
    if (!parent) return
    const editor = new EditorView({
      parent,
      state: EditorState.create({
        doc: latest.current.value,
        extensions: [
          EditorView.cspNonce.of(styleNonce() ?? ''),
          fixed(),
          LANGUAGES[latest.current.language](),
          settings.current.of([]),
          EditorView.updateListener.of((update) => {
            if (!update.docChanged) return
            const text = update.state.doc.toString()
            if (text !== latest.current.value) latest.current.onChange?.(text)
          }),
        ],
      }),
    })
    view.current = editor
    if (focused.current) {
      editor.dispatch({ selection: focused.current })
      editor.focus()
    }
    return () => editor.destroy()
  }, [focused])

  const { label, readOnly, lines, id, 'aria-invalid': invalid, 'aria-describedby': describedBy } = props
  useEffect(() => {
    const attributes = attributesOf({ label, readOnly, lines, id, invalid, describedBy })
    view.current?.dispatch({ effects: settings.current.reconfigure(attributes) })
  }, [label, readOnly, lines, id, invalid, describedBy])

  useEffect(() => {
    const editor = view.current
    if (!editor || editor.state.doc.toString() === props.value) return
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: props.value } })
  }, [props.value])

  useEffect(() => {
    const editor = view.current
    if (!editor) return
    const end = editor.state.doc.length
    const problems = (props.problems ?? []).map(({ from, to, message }) => ({
      from: Math.min(from, end),
      to: Math.min(Math.max(from, to), end),
      message,
      severity: 'error' as const,
    }))
    editor.dispatch(setDiagnostics(editor.state, problems))
  }, [props.problems])

  return (
    <div
      ref={container}
      data-code-editor
      className="overflow-hidden rounded-lg border border-line-strong/70 bg-raised focus-within:border-accent focus-within:outline-2 focus-within:outline-accent"
    />
  )
}

interface Attributes {
  label: string
  readOnly: boolean | undefined
  lines: number | undefined
  id: string | undefined
  invalid: true | undefined
  describedBy: string | undefined
}

function attributesOf({ label, readOnly = false, lines = 8, id, invalid, describedBy }: Attributes): Extension {
  return [
    EditorState.readOnly.of(readOnly),
    EditorView.contentAttributes.of({
      'aria-label': label,
      ...(id ? { id } : {}),
      ...(describedBy ? { 'aria-describedby': describedBy } : {}),
      ...(invalid ? { 'aria-invalid': 'true' } : {}),
      // axe does not count editable content as focusable.
      tabindex: '0',
      ...(readOnly ? { 'aria-readonly': 'true' } : {}),
    }),
    EditorView.theme({ '.cm-scroller': { minHeight: `${lines * 1.375}rem`, maxHeight: '60dvh' } }),
  ]
}

const fixed = (): Extension => [
  lineNumbers(),
  highlightSpecialChars(),
  history(),
  bracketMatching(),
  closeBrackets(),
  indentOnInput(),
  lintGutter(),
  EditorView.lineWrapping,
  keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap]),
  syntaxHighlighting(COLOURS),
  LOOK,
]

const COLOURS = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.variableName)], color: 'var(--accent)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--act)' },
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: 'var(--busy)' },
  { tag: [tags.comment], color: 'var(--ink-faint)', fontStyle: 'italic' },
  { tag: [tags.typeName, tags.className], color: 'var(--accent)' },
])

const LOOK = EditorView.theme({
  '&': { fontSize: '0.8125rem', backgroundColor: 'transparent' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '1.375rem' },
  '.cm-content': { caretColor: 'var(--ink)', padding: '0.5rem 0' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--ink-faint)', border: 'none' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--accent-soft)',
  },
  '.cm-matchingBracket': { backgroundColor: 'var(--accent-soft)', outline: '1px solid var(--line-strong)' },
  '.cm-tooltip': {
    backgroundColor: 'var(--raised)',
    color: 'var(--ink)',
    border: '1px solid var(--line)',
    borderRadius: '0.5rem',
    fontFamily: 'var(--font-sans)',
  },
  '.cm-diagnostic-error': { borderLeft: '3px solid var(--bad)' },
  '.cm-lintRange-error': { backgroundImage: 'none', textDecoration: 'underline wavy var(--bad)' },
})
