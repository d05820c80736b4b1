/** Dialog for tool overrides: title, description and stricter annotations. */
import { useState } from 'react'
import type { Toolkit } from '../../../lib/api.ts'
import { ProblemNotice } from '../../../lib/problems.tsx'
import { useUnsaved } from '../../../lib/unsaved.tsx'
import { DialogForm } from '../../../ui/form/dialog-form.tsx'
import { Field } from '../../../ui/form/field.tsx'
import { Input, Textarea } from '../../../ui/form/input.tsx'
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
  const [draft, setDraft] = useState(initial)
  const [isLeaving, setLeaving] = useState(false)
  const save = useOverride()
  const change = (changes: Partial<OverrideDraft>) => setDraft({ ...draft, ...changes })
  const isChanged = textOf(draft) !== textOf(initial)
  const leaving = useUnsaved(isChanged)
  const close = () => (isChanged ? setLeaving(true) : onClose())
  const submit = () => {
    if (!isChanged) return onClose()
    save.mutate({ toolkit, tool, draft }, { onSuccess: onClose })
  }
  return (
    <Dialog open onOpenChange={(open) => !open && close()}>
      <DialogContent onClosed={onClosed} keepOpen={isChanged}>
        <DialogHeader
          title={`How models see ${tool.name}`}
          description="What you leave empty stays as its server says it."
        />
        <DialogForm submit="Save" busy={save.isPending && 'Saving…'} onSubmit={submit} onCancel={close}>
          {save.error && <ProblemNotice error={save.error} />}
          <Texts tool={tool} draft={draft} onChange={change} />
          <Claims tool={tool} draft={draft} onChange={change} />
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

interface PartProps {
  tool: Tool
  draft: OverrideDraft
  onChange: (changes: Partial<OverrideDraft>) => void
}

function Texts({ tool, draft, onChange }: PartProps) {
  return (
    <>
      <Field label="Title" optional>
        {(control) => (
          <Input
            {...control}
            value={draft.title}
            maxLength={500}
            placeholder={tool.title ?? tool.annotations?.title ?? tool.name}
            onChange={(event) => onChange({ title: event.target.value })}
          />
        )}
      </Field>
      <Field label="Description" optional hint="What a model reads when it chooses, and what searches look through.">
        {(control) => (
          <Textarea
            {...control}
            value={draft.description}
            maxLength={8192}
            placeholder={tool.description}
            className="min-h-28"
            onChange={(event) => onChange({ description: event.target.value })}
          />
        )}
      </Field>
    </>
  )
}

/** Overrides can only be stricter, so annotations that are already strict are hidden. */
function Claims({ tool, draft, onChange }: PartProps) {
  const open = HINTS.filter((hint) => tool.annotations?.[hint] !== CAREFUL[hint])
  if (open.length === 0) return null
  const set = (hint: Hint, on: boolean) => {
    const next = new Set(draft.careful)
    if (on) next.add(hint)
    else next.delete(hint)
    onChange({ careful: next })
  }
  return (
    <fieldset className="grid gap-3">
      <legend className="mb-3 text-sm font-medium">What it does, more carefully than its server says</legend>
      {open.map((hint) => (
        <SwitchRow key={hint} {...CLAIMS[hint]} checked={draft.careful.has(hint)} onChange={(on) => set(hint, on)} />
      ))}
    </fieldset>
  )
}
