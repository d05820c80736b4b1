import { useStore } from '@tanstack/react-form'
import { problemOf } from '../../../lib/api.ts'
import { submitForm, useAppForm } from '../../../lib/form.tsx'
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
  const save = useSetThreadRules(threadId)
  const form = useAppForm({
    defaultValues: { rule: NEW },
    onSubmit: async ({ value: { rule } }) => {
      await save.mutateAsync([...rules, rule])
      onClose()
    },
  })
  const isChanged = useStore(form.store, ({ values }) => values.rule !== NEW)
  const ofRule = `rules.${rules.length}.`
  const errors = save.error
    ? (problemOf(save.error).errors ?? []).filter(
        ({ path }) => path.startsWith(ofRule) || `rules.${path}`.startsWith(ofRule),
      )
    : []
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()}>
      <DialogContent onClosed={onClosed} keepOpen={isChanged}>
        <DialogHeader title="Rule for this thread" description="It is tried after those that there are." />
        <DialogForm
          submit="Add rule"
          busy={save.isPending && 'Adding…'}
          onSubmit={() => submitForm(form)}
          onCancel={onClose}
        >
          {save.error && <ProblemNotice error={save.error} folded={errors.length > 0} />}
          <form.Field name="rule" listeners={{ onChange: () => save.error && save.reset() }}>
            {({ state, handleChange }) => (
              <RuleFields rule={state.value} errors={errors} onChange={(rule) => handleChange(rule)} />
            )}
          </form.Field>
        </DialogForm>
      </DialogContent>
    </Dialog>
  )
}
