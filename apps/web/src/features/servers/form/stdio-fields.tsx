import { useStore } from '@tanstack/react-form'
import { setFields } from '../../../lib/form.tsx'
import { Button } from '../../../ui/form/button.tsx'
import { splitCommand } from '../add/split-command.ts'
import type { StdioRules } from '../queries.ts'
import { holdsPlaceholder } from './draft.ts'
import { rowErrors } from './field-errors.ts'
import { SecretRows } from './secret-rows.tsx'
import { StoredHint } from './stored-hint.tsx'
import { InfoNote, TemplateFields } from './template-fields.tsx'
import type { DraftForm } from './use-draft-form.ts'

interface StdioFieldsProps {
  form: DraftForm
  /** Stdio policy; undefined for operators, who may use any command. */
  rules?: StdioRules | undefined
}

export function StdioFields({ form, rules }: StdioFieldsProps) {
  const hasNone = useStore(form.store, ({ values }) => values.command === '' && values.args === '')
  const hasTemplate = useStore(form.store, ({ values }) => values.template !== '')
  if (hasTemplate || (rules?.policy === 'templates' && hasNone))
    return <TemplateFields form={form} templates={rules?.templates ?? []} />
  if (rules?.policy === 'off' && hasNone)
    return (
      <InfoNote>
        The operator lets users start no commands here. Reach the server by its URL, or ask the operator.
      </InfoNote>
    )
  return (
    <>
      {rules?.policy === 'sandbox' && (
        <InfoNote>
          It runs in a sandbox: without your files, and with no network but the hosts that you name under More options.
        </InfoNote>
      )}
      <CommandFields form={form} />
    </>
  )
}

function CommandFields({ form }: { form: DraftForm }) {
  return (
    <>
      <form.AppField name="command">
        {(field) => (
          <field.TextField
            label="Command"
            hint={<SplitOffer form={form} />}
            placeholder="npx"
            autoCapitalize="off"
            className="font-mono"
          />
        )}
      </form.AppField>
      <form.AppField name="args">
        {(field) => (
          <field.TextareaField
            label="Arguments"
            optional
            hint={holdsPlaceholder(field.state.value) ? <StoredHint /> : 'One on each line. No quotes are needed.'}
            placeholder={'-y\n@modelcontextprotocol/server-filesystem\n./notes'}
            autoCapitalize="off"
            className="font-mono"
          />
        )}
      </form.AppField>
      <form.Field name="env">
        {({ state, handleChange }) => (
          <SecretRows
            field="env"
            label="Environment"
            noun="variable"
            example="API_KEY"
            hint="Values are stored encrypted and never shown again."
            rows={state.value}
            errors={rowErrors(state.meta.errors)}
            onChange={handleChange}
          />
        )}
      </form.Field>
      <form.AppField name="cwd">
        {(field) => (
          <field.TextField
            label="Working directory"
            optional
            placeholder="/srv/notes"
            autoCapitalize="off"
            className="font-mono"
          />
        )}
      </form.AppField>
    </>
  )
}

// Offers to split a whole command line that was pasted into the command field.
function SplitOffer({ form }: { form: DraftForm }) {
  const hasArgs = useStore(form.store, ({ values }) => values.args.trim() !== '')
  const [command = '', ...args] = splitCommand(useStore(form.store, ({ values }) => values.command))
  if (args.length === 0 || hasArgs) return 'The program to start. It runs without a shell.'
  return (
    <>
      This looks like a whole command line.{' '}
      <Button
        variant="quiet"
        size="small"
        className="h-6 px-1.5 text-accent"
        onClick={() => setFields(form, { command, args: args.join('\n') })}
      >
        Move the rest to arguments
      </Button>
    </>
  )
}
