import { useStore } from '@tanstack/react-form'
import { useNavigate } from '@tanstack/react-router'
import { fieldError, submitForm, useAppForm } from '../../../lib/form.tsx'
import { Button } from '../../../ui/form/button.tsx'
import { CodeEditor } from '../../../ui/form/code-editor.tsx'
import { Field } from '../../../ui/form/field.tsx'
import { Dialog, DialogContent, DialogFooter, DialogHeader } from '../../../ui/overlay/dialog.tsx'
import { readDefinition } from '../definition/read-definition.ts'
import { saveImportDraft } from './import-draft.ts'

/** Imports a definition as text or file into the editor, without saving it. */
export function ImportDialog({ onClose, onClosed }: { onClose: () => void; onClosed: () => void }) {
  const navigate = useNavigate()
  const form = useAppForm({
    defaultValues: { text: '' },
    onSubmit: () => {
      onClose()
      navigate({ to: '/workflows/$id', params: { id: 'new' }, search: { from: 'import' } })
    },
  })
  const hasText = useStore(form.store, ({ values }) => values.text !== '')
  const take = async (file: File | undefined) => {
    if (file) form.setFieldValue('text', await file.text())
  }
  return (
    <Dialog open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <DialogContent onClosed={onClosed} keepOpen={hasText}>
        <DialogHeader
          title="Import a definition"
          description="It opens in the editor; nothing is saved before you do."
        />
        <div className="grid min-h-0 flex-1 content-start gap-4 overflow-y-auto px-4 py-5 sm:px-6">
          <Field label="File" optional>
            {(control) => (
              <input
                {...control}
                type="file"
                accept="application/json,.json"
                onChange={(event) => take(event.target.files?.[0])}
                className="text-sm file:mr-3 file:h-8 file:rounded-lg file:border file:border-line file:bg-surface file:px-3 file:text-[0.8125rem] file:font-medium file:text-ink"
              />
            )}
          </Field>
          <form.Field name="text" validators={{ onSubmit: ({ value }) => storeDefinition(value) }}>
            {({ state, handleChange }) => (
              <Field
                label="Definition"
                error={fieldError(state.meta.errors, 'Definition')}
                hint="As JSON: name, input, nodes, output."
              >
                {(control) => (
                  <CodeEditor
                    {...control}
                    label="Definition"
                    language="json"
                    lines={12}
                    value={state.value}
                    onChange={handleChange}
                  />
                )}
              </Field>
            )}
          </form.Field>
        </div>
        <DialogFooter>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" onClick={() => submitForm(form)}>
            Open in the editor
          </Button>
        </DialogFooter>
      </DialogContent>
    </Dialog>
  )
}

/** Stores the definition for the editor; returns why it cannot. */
function storeDefinition(text: string): string | undefined {
  const read = readDefinition(text)
  if ('problem' in read) return read.problem
  return saveImportDraft(read.definition)
    ? undefined
    : 'This browser keeps nothing for this page. Begin an empty workflow and paste it under JSON.'
}
