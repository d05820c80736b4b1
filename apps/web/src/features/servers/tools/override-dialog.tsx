/** Dialog for tool overrides: title, description and stricter annotations. */
import { useStore } from '@tanstack/react-form'
import { useState } from 'react'
import type { Toolkit } from '../../../lib/api.ts'
import { submitForm, useAppForm } from '../../../lib/form.tsx'
import { ProblemNotice } from '../../../lib/problems.tsx'
import { useUnsaved } from '../../../lib/unsaved.tsx'
import { DialogForm } from '../../../ui/form/dialog-form.tsx'
import { Confirm } from '../../../ui/overlay/alert-dialog.tsx'
import { Dialog, DialogContent, DialogHeader } from '../../../ui/overlay/dialog.tsx'
import { SwitchRow } from '../form/options-fields.tsx'
import { useOverride } from '../use-tools.ts'
import { CAREFUL, HINTS, type Hint, type OverrideDraft, overrideDraft, overrideOf } from './tool-override.ts'

type Tool = Toolkit['tools'][number]

const CLAIMS: Record<Hint, { label: string; hint: string }> = {
  readOnlyHint: { label: 'It changes things', hint: 'Asked about as what writes is, whatever its server claims.' },
  destructiveHint: { label: 'It may destroy something', hint: 'Marked as destructive, and asked about.' },
  idempotentHint: { label: 'It must not be repeated', hint: 'A call that fails half-way is never made a second time.' },
  openWorldHint: { label: 'It reaches things outside', hint: 'Such as other people, or the web.' },
}

interface OverrideDialogProps {
  toolkit: Toolkit
  /** The tool as its server describes it. */
  tool: Tool
  onClose: () => void
  onClosed: () => void
}

export function OverrideDialog({ toolkit, tool, onClose, onClosed }: OverrideDialogProps) {
  const [initial] = useState(() => overrideDraft(overrideOf(toolkit, tool)))
  const [isLeaving, setLeaving] = useState(false)
  const save = useOverride()
  const form = useAppForm({
    defaultValues: initial,
    onSubmit: async ({ value }) => {
      if (textOf(value) !== textOf(initial)) await save.mutateAsync({ toolkit, tool, draft: value })
      onClose()
    },
  })
  const isChanged = useStore(form.store, ({ values }) => textOf(values) !== textOf(initial))
  const leaving = useUnsaved(isChanged)
  const close = () => (isChanged ? setLeaving(true) : onClose())
  return (
    <Dialog open onOpenChange={(open) => !open && close()}>
      <DialogContent onClosed={onClosed} keepOpen={isChanged}>
        <DialogHeader
          title={`How models see ${tool.name}`}
          description="What you leave empty stays as its server says it."
        />
        <DialogForm submit="Save" busy={save.isPending && 'Saving…'} onSubmit={() => submitForm(form)} onCancel={close}>
          {save.error && <ProblemNotice error={save.error} />}
          <form.AppField name="title">
            {(field) => (
              <field.TextField
                label="Title"
                optional
                maxLength={500}
                placeholder={tool.title ?? tool.annotations?.title ?? tool.name}
              />
            )}
          </form.AppField>
          <form.AppField name="description">
            {(field) => (
              <field.TextareaField
                label="Description"
                optional
                hint="Models read this text to choose a tool, and searches look through it."
                maxLength={8192}
                placeholder={tool.description}
                className="min-h-28"
              />
            )}
          </form.AppField>
          <form.Field name="careful">
            {({ state, handleChange }) => (
              <Claims tool={tool} careful={state.value} onChange={(careful) => handleChange(careful)} />
            )}
          </form.Field>
          <p className="text-[0.8125rem] text-ink-muted">
            Answers that you wanted remembered for {toolkit.name} end with a change, and are asked for anew.
          </p>
        </DialogForm>
        {(isLeaving || leaving.status === 'blocked') && (
          <Confirm
            title="Discard what you entered?"
            cancel="Keep editing"
            confirm="Discard"
            onCancel={leaving.status === 'blocked' ? leaving.reset : () => setLeaving(false)}
            onConfirm={leaving.status === 'blocked' ? leaving.proceed : onClose}
            onClosed={() => {}}
          >
            <p>Your changes are not saved.</p>
          </Confirm>
        )}
      </DialogContent>
    </Dialog>
  )
}

const textOf = ({ title, description, careful }: OverrideDraft) =>
  JSON.stringify([title, description, HINTS.filter((hint) => careful.has(hint))])

interface ClaimsProps {
  tool: Tool
  careful: OverrideDraft['careful']
  onChange: (careful: OverrideDraft['careful']) => void
}

/** Overrides can only be stricter, so annotations that are already strict are hidden. */
function Claims({ tool, careful, onChange }: ClaimsProps) {
  const open = HINTS.filter((hint) => tool.annotations?.[hint] !== CAREFUL[hint])
  if (open.length === 0) return null
  const set = (hint: Hint, on: boolean) => {
    const next = new Set(careful)
    if (on) next.add(hint)
    else next.delete(hint)
    onChange(next)
  }
  return (
    <fieldset className="grid gap-3">
      <legend className="mb-3 text-sm font-medium">What it does, more carefully than its server says</legend>
      {open.map((hint) => (
        <SwitchRow key={hint} {...CLAIMS[hint]} checked={careful.has(hint)} onChange={(on) => set(hint, on)} />
      ))}
    </fieldset>
  )
}
