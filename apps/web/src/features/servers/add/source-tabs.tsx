import { Braces, ClipboardPaste, Globe, Terminal } from 'lucide-react'
import { ChoiceCards } from '../../../ui/form/choice.tsx'
import { FieldError } from '../../../ui/form/field.tsx'
import type { StdioRules } from '../queries.ts'
import type { AddMode } from './dialog-search.ts'

const MODES = [
  { value: 'http', label: 'URL', hint: 'A server, over HTTP', icon: <Globe aria-hidden /> },
  { value: 'stdio', label: 'Command', hint: 'A process, over stdio', icon: <Terminal aria-hidden /> },
  { value: 'paste', label: 'Paste', hint: 'The config of another app', icon: <ClipboardPaste aria-hidden /> },
  { value: 'custom', label: 'Custom toolkit', hint: 'Tools that you write', icon: <Braces aria-hidden /> },
] as const

const CLOSED = { hint: 'The operator has switched commands off', disabled: true }

/** Whether the operator allows no commands. */
export const isUnavailable = (rules: StdioRules | undefined): boolean =>
  rules?.policy === 'off' || (rules?.policy === 'templates' && rules.templates.length === 0)

interface SourceTabsProps {
  mode: AddMode
  /** Whether an existing server is edited. */
  edits: boolean
  /** Stdio policy, once loaded. */
  rules: StdioRules | undefined
  error: string | undefined
  onChoose: (mode: AddMode) => void
}

/** Tabs for the source of a server. */
export function SourceTabs({ mode, edits, rules, error, onChoose }: SourceTabsProps) {
  return (
    <div className="grid gap-1.5">
      <span aria-hidden className="text-sm font-medium">
        How to reach it
      </span>
      <ChoiceCards
        label="How to reach it"
        value={mode}
        options={(edits ? MODES.slice(0, 2) : MODES).map((option) =>
          option.value === 'stdio' && isUnavailable(rules) && mode !== 'stdio' ? { ...option, ...CLOSED } : option,
        )}
        onChange={(next) => onChoose(next as AddMode)}
      />
      {error && <FieldError>{error}</FieldError>}
    </div>
  )
}
