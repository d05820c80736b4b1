import { ArrowUp, Play, Search, Square } from 'lucide-react'
import { type FormEvent, type KeyboardEvent, type ReactNode, useRef } from 'react'
import { Button } from '../../../ui/form/button.tsx'
import { type Option, Segmented } from '../../../ui/form/choice.tsx'
import { CodeEditor } from '../../../ui/form/code-editor.tsx'
import { Textarea } from '../../../ui/form/input.tsx'
import type { Mode } from '../thread-search.ts'

const MODES: ReadonlyArray<Option<Mode>> = [
  { value: 'ask', label: 'Ask' },
  { value: 'find', label: 'Find tools' },
  { value: 'program', label: 'Program' },
]

interface ComposerProps {
  mode: Mode
  onMode: (mode: Mode) => void
  text: string
  onText: (text: string) => void
  onSend: () => void
  /** Cancels the running response. */
  onStop: (() => void) | undefined
  isBusy: boolean
  /** Why the mode cannot send. */
  blocked: ReactNode
  beside: ReactNode
}

/** Input of a thread: a chat message, a tool search or a program. */
export function Composer(props: ComposerProps) {
  const { mode, onMode, blocked, beside, text, onSend } = props
  const submit = (event?: FormEvent) => {
    event?.preventDefault()
    if (text.trim() !== '' && !props.isBusy) onSend()
  }
  return (
    <form
      onSubmit={submit}
      aria-label="Composer"
      className="sticky bottom-0 z-10 grid gap-2.5 border-t bg-canvas px-4 pt-3 pb-4 sm:px-8 [&>*]:min-w-0 low:static"
    >
      <div className="flex flex-wrap items-center justify-between gap-2">
        <Segmented label="What to do" value={mode} options={MODES} onChange={onMode} />
        {beside}
      </div>
      {blocked ||
        (mode === 'program' ? <ProgramField {...props} submit={submit} /> : <TextField {...props} submit={submit} />)}
    </form>
  )
}

const PLACEHOLDERS = { ask: 'Ask the model', find: 'Say what should be done; see which tools fit' }

function TextField({ mode, text, onText, onStop, isBusy, submit }: ComposerProps & { submit: () => void }) {
  const field = useRef<HTMLTextAreaElement>(null)
  const placeholder = mode === 'find' ? PLACEHOLDERS.find : PLACEHOLDERS.ask
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    submit()
  }
  const stop = () => {
    onStop?.()
    field.current?.focus()
  }
  return (
    <div className="flex items-end gap-2">
      <Textarea
        ref={field}
        aria-label={placeholder}
        placeholder={placeholder}
        rows={1}
        className="max-h-[35dvh] min-h-10"
        value={text}
        onChange={(event) => onText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      {onStop ? (
        <Button size="icon" className="size-10" aria-label="Stop" onClick={stop}>
          <Square aria-hidden />
        </Button>
      ) : (
        <Button
          type="submit"
          variant="primary"
          size="icon"
          className="size-10"
          aria-label={mode === 'find' ? 'Find tools' : 'Send'}
          aria-disabled={isBusy || text.trim() === ''}
        >
          {mode === 'find' ? <Search aria-hidden /> : <ArrowUp aria-hidden />}
        </Button>
      )}
    </div>
  )
}

function ProgramField({ text, onText, isBusy, submit }: ComposerProps & { submit: () => void }) {
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    event.stopPropagation()
    submit()
  }
  return (
    <div className="grid gap-2" onKeyDownCapture={onKeyDown}>
      <div className="max-h-[40dvh] overflow-y-auto rounded-lg">
        <CodeEditor label="Program" language="typescript" lines={5} value={text} onChange={onText} />
      </div>
      <div className="flex items-center justify-between gap-3">
        <p className="text-xs text-ink-muted">
          Tools are functions: <code className="font-mono">await toolkit.tool(input)</code>; what it returns is its
          value. Ctrl+Enter runs it.
        </p>
        <Button type="submit" variant="primary" size="small" aria-disabled={isBusy || text.trim() === ''}>
          <Play aria-hidden /> {isBusy ? 'Starting…' : 'Run'}
        </Button>
      </div>
    </div>
  )
}
