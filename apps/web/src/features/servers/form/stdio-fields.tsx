import { Button } from '../../../ui/form/button.tsx'
import { Field } from '../../../ui/form/field.tsx'
import { Input, Textarea } from '../../../ui/form/input.tsx'
import { splitCommand } from '../add/split-command.ts'
import type { StdioRules } from '../queries.ts'
import { holdsPlaceholder } from './draft.ts'
import type { Form } from './form.ts'
import { SecretRows } from './secret-rows.tsx'
import { StoredHint } from './stored-hint.tsx'
import { InfoNote, TemplateFields } from './template-fields.tsx'

interface StdioFieldsProps {
  form: Form
  /** Stdio policy; undefined for operators, who may use any command. */
  rules?: StdioRules | undefined
}

export function StdioFields({ form, rules }: StdioFieldsProps) {
  const { draft } = form
  const hasNone = draft.command === '' && draft.args === ''
  if (draft.template !== '' || (rules?.policy === 'templates' && hasNone))
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

function CommandFields({ form: { draft, errors, change } }: { form: Form }) {
  return (
    <>
      <Field label="Command" error={errors.command} hint={<SplitOffer draft={draft} change={change} />}>
        {(control) => (
          <Input
            {...control}
            value={draft.command}
            placeholder="npx"
            autoCapitalize="off"
            className="font-mono"
            onChange={(event) => change({ command: event.target.value })}
          />
        )}
      </Field>
      <Field
        label="Arguments"
        optional
        error={errors.args}
        hint={holdsPlaceholder(draft.args) ? <StoredHint /> : 'One on each line. No quotes are needed.'}
      >
        {(control) => (
          <Textarea
            {...control}
            value={draft.args}
            placeholder={'-y\n@modelcontextprotocol/server-filesystem\n./notes'}
            autoCapitalize="off"
            className="font-mono"
            onChange={(event) => change({ args: event.target.value })}
          />
        )}
      </Field>
      <SecretRows
        field="env"
        label="Environment"
        noun="variable"
        example="API_KEY"
        hint="Values are stored encrypted and never shown again."
        rows={draft.env}
        errors={errors}
        onChange={(env) => change({ env })}
      />
      <Field label="Working directory" optional error={errors.cwd}>
        {(control) => (
          <Input
            {...control}
            value={draft.cwd}
            placeholder="/srv/notes"
            autoCapitalize="off"
            className="font-mono"
            onChange={(event) => change({ cwd: event.target.value })}
          />
        )}
      </Field>
    </>
  )
}

// Offers to split a whole command line that was pasted into the command field.
function SplitOffer({ draft, change }: Pick<Form, 'draft' | 'change'>) {
  const [command = '', ...args] = splitCommand(draft.command)
  if (args.length === 0 || draft.args.trim() !== '') return 'The program to start. It runs without a shell.'
  return (
    <>
      This looks like a whole command line.{' '}
      <Button
        variant="quiet"
        size="small"
        className="h-6 px-1.5 text-accent"
        onClick={() => change({ command, args: args.join('\n') })}
      >
        Move the rest to arguments
      </Button>
    </>
  )
}
