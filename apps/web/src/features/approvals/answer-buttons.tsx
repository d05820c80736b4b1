import { Ban, Check, ChevronDown, X } from 'lucide-react'
import { Button } from '../../ui/form/button.tsx'
import { Menu, MenuContent, MenuItem, MenuTrigger } from '../../ui/overlay/menu.tsx'
import type { Approval, ApprovalAnswer } from './queries.ts'
import type { ApprovalTool } from './risk.ts'

interface ButtonsProps {
  approval: Approval
  tool: ApprovalTool
  busy: boolean
  keysOn: boolean
  onAnswer: (answer: ApprovalAnswer) => void
}

/** Allow and deny once come first; longer permissions name their scope. */
export function AnswerButtons({ approval, tool, busy, keysOn, onAnswer }: ButtonsProps) {
  const { allowRemember } = approval
  return (
    <div className="grid gap-2">
      <div className="flex flex-wrap gap-2">
        <Button
          variant="primary"
          size="small"
          aria-disabled={busy}
          aria-label={`Allow ${tool.title} once`}
          onClick={() => onAnswer({ decision: 'allow' })}
        >
          <Check aria-hidden /> Allow once
        </Button>
        {allowRemember && <AllowLonger approval={approval} tool={tool} busy={busy} onAnswer={onAnswer} />}
        <Button
          size="small"
          aria-disabled={busy}
          aria-label={`Deny ${tool.title}`}
          onClick={() => onAnswer({ decision: 'deny' })}
          className="sm:ml-auto"
        >
          <X aria-hidden /> Deny
        </Button>
        {allowRemember && (
          <Button
            size="small"
            variant="quiet"
            aria-disabled={busy}
            className="text-bad hover:bg-bad-soft hover:text-bad"
            aria-label={`Deny ${tool.title} and block it from now on`}
            onClick={() => onAnswer({ decision: 'deny', remember: 'tool' })}
          >
            <Ban aria-hidden /> Deny and block
          </Button>
        )}
      </div>
      {!allowRemember && (
        <p className="text-[0.8125rem] text-ink-muted">The rule that asks wants an answer each time.</p>
      )}
      {keysOn && (
        <p className="hidden text-[0.8125rem] text-ink-muted group-focus:block">
          <Key>Y</Key> allows once, <Key>N</Key> denies.
        </p>
      )}
    </div>
  )
}

function AllowLonger({ approval, tool, busy, onAnswer }: Omit<ButtonsProps, 'keysOn'>) {
  return (
    <Menu>
      <MenuTrigger asChild>
        <Button size="small" disabled={busy} aria-label={`Allow ${tool.title} for longer`}>
          Allow for longer <ChevronDown aria-hidden />
        </Button>
      </MenuTrigger>
      <MenuContent align="start">
        {approval.threadId && (
          <MenuItem onSelect={() => onAnswer({ decision: 'allow', remember: 'thread' })}>
            For this conversation
          </MenuItem>
        )}
        <MenuItem onSelect={() => onAnswer({ decision: 'allow', remember: 'tool' })}>Always for this tool</MenuItem>
        <MenuItem onSelect={() => onAnswer({ decision: 'allow', remember: 'toolkit' })}>
          Always for all of {tool.toolkitName}
        </MenuItem>
      </MenuContent>
    </Menu>
  )
}

const Key = ({ children }: { children: string }) => (
  <kbd className="rounded border border-line bg-sunken px-1.5 font-mono text-xs">{children}</kbd>
)
