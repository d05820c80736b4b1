import { useQuery } from '@tanstack/react-query'
import { ArrowUp, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { ProblemNotice } from '../../../lib/problems.tsx'
import { Badge } from '../../../ui/data/badge.tsx'
import { Skeleton } from '../../../ui/data/skeleton.tsx'
import { Button } from '../../../ui/form/button.tsx'
import { formatConditions, RULE_DECISION_LABELS } from '../../operator/policy/rule-form.tsx'
import type { PolicyRule } from '../../operator/queries.ts'
import { ThreadRuleDialog } from './thread-rule-dialog.tsx'
import { threadRulesQuery, useSetThreadRules } from './use-thread-rules.ts'

const ADD = 'add-thread-rule'

/** Rules of this thread, in addition to the operator's and the user's. */
export function ThreadRules({ threadId }: { threadId: string }) {
  const { data: rules, error } = useQuery(threadRulesQuery(threadId))
  const set = useSetThreadRules(threadId)
  const [isAdding, setAdding] = useState(false)
  if (error && !rules) return <ProblemNotice error={error} />
  if (!rules) return <Skeleton className="h-20 w-full rounded-lg" />
  const put = (next: PolicyRule[]) => !set.isPending && set.mutate(next)
  const remove = (at: number) => {
    put(rules.filter((_, index) => index !== at))
    document.getElementById(ADD)?.focus()
  }
  return (
    <div className="grid gap-3">
      <p className="text-sm text-ink-muted">
        {rules.length === 0
          ? 'This thread has no rules of its own: the operator’s and yours hold. A rule here can make some tools ask, or keep them away, in this thread alone.'
          : 'The first that fits a call holds in this thread. They can only be stricter than the operator’s and yours.'}
      </p>
      {set.error && <ProblemNotice error={set.error} />}
      {rules.length > 0 && (
        <ol className="divide-y rounded-lg border bg-raised" aria-label="Rules of this thread">
          {rules.map((rule, index) => (
            <RuleRow
              // biome-ignore lint/suspicious/noArrayIndexKey: rules may be equal, so the index is the key
              key={index}
              rule={rule}
              isBusy={set.isPending}
              onUp={rules.length === 1 ? undefined : () => put(raised(rules, index))}
              isFirst={index === 0}
              onRemove={() => remove(index)}
            />
          ))}
        </ol>
      )}
      <Button id={ADD} size="small" className="justify-self-start" onClick={() => setAdding(true)}>
        <Plus aria-hidden /> Add rule
      </Button>
      {isAdding && (
        <ThreadRuleDialog
          threadId={threadId}
          rules={rules}
          onClose={() => setAdding(false)}
          onClosed={() => document.getElementById(ADD)?.focus()}
        />
      )}
    </div>
  )
}

interface RuleRowProps {
  rule: PolicyRule
  isBusy: boolean
  isFirst: boolean
  /** Undefined if there is only one rule. */
  onUp: (() => void) | undefined
  onRemove: () => void
}

function RuleRow({ rule, isBusy, isFirst, onUp, onRemove }: RuleRowProps) {
  const about = [formatConditions(rule), rule.reason].filter(Boolean).join(' · ')
  return (
    <li className="grid gap-1 py-1.5 pr-1 pl-3">
      <div className="flex min-h-8 items-center gap-2">
        <code className="min-w-0 flex-1 font-mono text-xs wrap-anywhere">{rule.pattern}</code>
        <Badge>{RULE_DECISION_LABELS[rule.decision]}</Badge>
        <span className="flex">
          {onUp && (
            <Button
              variant="quiet"
              size="icon"
              className="size-8"
              disabled={isFirst}
              aria-label={`Try the rule for ${rule.pattern} earlier`}
              aria-disabled={isBusy}
              onClick={onUp}
            >
              <ArrowUp aria-hidden />
            </Button>
          )}
          <Button
            variant="quiet"
            size="icon"
            className="size-8"
            aria-label={`Remove the rule for ${rule.pattern}`}
            aria-disabled={isBusy}
            onClick={onRemove}
          >
            <Trash2 aria-hidden />
          </Button>
        </span>
      </div>
      {about && <p className="pb-1 text-xs wrap-anywhere text-ink-muted">{about}</p>}
    </li>
  )
}

function raised(rules: readonly PolicyRule[], index: number): PolicyRule[] {
  const next = [...rules]
  const [rule] = next.splice(index, 1)
  if (rule) next.splice(index - 1, 0, rule)
  return next
}
