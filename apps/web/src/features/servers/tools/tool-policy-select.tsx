import { Select } from '../../../ui/form/input.tsx'
import type { ToolDecision } from '../queries.ts'
import { type Choice, choicesFor, DECISION_LABELS } from './tool-policy.ts'

interface ToolPolicySelectProps {
  name: string
  decision: ToolDecision | undefined
  choice: Choice
  busy: boolean
  onChoose: (choice: Choice) => void
}

const CHOICE_LABELS: Record<Exclude<Choice, 'inherit'>, string> = {
  allow: 'Always allow',
  ask: 'Always ask',
  deny: 'Block',
}

const SMALL = 'h-8 w-40 py-0 text-[0.8125rem] sm:text-[0.8125rem] [&+svg]:top-2'

/** Policy of a tool. The default option names the inherited decision. */
export function ToolPolicySelect({ name, decision, choice, busy, onChoose }: ToolPolicySelectProps) {
  if (!decision) return <Select aria-label={`Calls of ${name}`} disabled className={SMALL} />
  const offered = choicesFor(decision.inherited)
  const choices = offered.includes(choice) ? offered : [...offered, choice]
  return (
    <Select
      aria-label={`Calls of ${name}`}
      title={decision.reason}
      disabled={busy}
      value={choice}
      onChange={(event) => onChoose(event.target.value as Choice)}
      className={SMALL}
    >
      {choices.map((option) => (
        <option key={option} value={option}>
          {option === 'inherit'
            ? `Default: ${DECISION_LABELS[decision.inherited.decision].toLowerCase()}`
            : CHOICE_LABELS[option]}
        </option>
      ))}
    </Select>
  )
}

/** Note if a stricter rule overrides the choice. */
export function effectiveNote(decision: ToolDecision | undefined, choice: Choice): string | undefined {
  if (!decision) return undefined
  const expected = choice === 'inherit' ? decision.inherited.decision : choice
  return decision.decision === expected ? undefined : `${DECISION_LABELS[decision.decision]}: ${decision.reason}`
}
