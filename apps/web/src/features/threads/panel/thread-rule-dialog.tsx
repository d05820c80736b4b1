import { useState } from 'react'
import { problemOf } from '../../../lib/api.ts'
import { ProblemNotice } from '../../../lib/problems.tsx'
import { DialogForm } from '../../../ui/form/dialog-form.tsx'
import { Dialog, DialogContent, DialogHeader } from '../../../ui/overlay/dialog.tsx'
import { RuleFields } from '../../operator/policy/rule-form.tsx'
import type { PolicyRule } from '../../operator/queries.ts'
import { useSetThreadRules } from './use-thread-rules.ts'

interface ThreadRuleDialogProps {
  threadId: string
  /** Existing rules; the new one is appended. */
  rules: readonly PolicyRule[]
  onClose: () => void
  onClosed: () => void
}

const NEW: PolicyRule = { pattern: '', when: {}, decision: 'ask', allowEdits: false, allowRemember: true }

export function ThreadRuleDialog({ threadId, rules, onClose, onClosed }: ThreadRuleDialogProps) {
  const [rule, setRule] = useState(NEW)
  const save = useSetThreadRules(threadId)
  const ofRule = `rules.${rules.length}.`
  const errors = save.error
    ? (problemOf(save.error).errors ?? []).filter(
        ({ path }) => path.startsWith(ofRule) || `rules.${path}`.startsWith(ofRule),
      )
    : []
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()}>
      <DialogContent onClosed={onClosed} keepOpen={rule !== NEW}>
        <DialogHeader title="Rule for this thread" description="It is tried after those that there are." />
        <DialogForm
          submit="Add rule"
          busy={save.isPending && 'Adding…'}
          onSubmit={() => save.mutate([...rules, rule], { onSuccess: onClose })}
          onCancel={onClose}
        >
          {save.error && <ProblemNotice error={save.error} folded={errors.length > 0} />}
          <RuleFields
            rule={rule}
            errors={errors}
            onChange={(next) => {
              setRule(next)
              if (save.error) save.reset()
            }}
          />
        </DialogForm>
      </DialogContent>
    </Dialog>
  )
}
