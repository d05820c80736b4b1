import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { answer, client } from '../../lib/api.ts'
import { submitForm, useAppForm } from '../../lib/form.tsx'
import { ProblemNotice } from '../../lib/problems.tsx'
import { CopyButton } from '../../ui/data/copy-button.tsx'
import { Button } from '../../ui/form/button.tsx'
import { DialogForm, focusFirstField } from '../../ui/form/dialog-form.tsx'
import { Field } from '../../ui/form/field.tsx'
import { Input } from '../../ui/form/input.tsx'
import { Dialog, DialogContent, DialogFooter, DialogHeader } from '../../ui/overlay/dialog.tsx'
import { useSession } from '../shell/session.ts'
import type { ApiKey, NewApiKey } from './queries.ts'

type Scope = ApiKey['scopes'][number]

const SCOPES: Record<Scope, string> = {
  read: 'See servers, tools, threads, runs and the log',
  write: 'Change servers, threads, rules and settings',
  call: 'Call tools, run programs and workflows, chat',
  approve: 'Answer approvals',
  operate: 'All that operators may',
}
const DAY_MS = 86_400_000
const DEFAULTS: { name: string; scopes: Scope[]; expires: string } = {
  name: '',
  scopes: ['read', 'write', 'call', 'approve'],
  expires: 'never',
}
const LENGTHS = { never: 'Never', '30': 'In 30 days', '90': 'In 90 days', '365': 'In a year' }

interface KeyInput {
  name: string
  scopes: Scope[]
  expiresAt?: string
  role?: 'operator'
}

interface DialogProps {
  onClose: () => void
  onClosed: () => void
}

export function NewKeyDialog({ onClose, onClosed }: DialogProps) {
  const queryClient = useQueryClient()
  const make = useMutation({
    mutationFn: (json: KeyInput) => answer(client.api.keys.$post({ json })),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['keys'] }),
  })
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()}>
      <DialogContent onOpened={focusFirstField} onClosed={onClosed} keepOpen>
        {make.data ? (
          <Made made={make.data} onClose={onClose} />
        ) : (
          <KeyForm error={make.error} isPending={make.isPending} onMake={make.mutateAsync} onClose={onClose} />
        )}
      </DialogContent>
    </Dialog>
  )
}

interface KeyFormProps {
  error: Error | null
  isPending: boolean
  onMake: (input: KeyInput) => Promise<unknown>
  onClose: () => void
}

function KeyForm({ error, isPending, onMake, onClose }: KeyFormProps) {
  const session = useSession()
  const form = useAppForm({
    defaultValues: DEFAULTS,
    onSubmit: ({ value: { name, scopes, expires } }) => {
      const days = expires === 'never' ? undefined : Number(expires)
      const expiresAt = days === undefined ? {} : { expiresAt: new Date(Date.now() + days * DAY_MS).toISOString() }
      const role = scopes.includes('operate') ? { role: 'operator' as const } : {}
      return onMake({ name: name.trim(), scopes, ...expiresAt, ...role })
    },
  })
  const offered = (Object.keys(SCOPES) as Scope[]).filter((scope) => scope !== 'operate' || session?.user?.operator)
  return (
    <>
      <DialogHeader title="New API key" description="It acts in your name, within its scopes." />
      <DialogForm submit="Make key" busy={isPending && 'Making…'} onSubmit={() => submitForm(form)} onCancel={onClose}>
        {error && <ProblemNotice error={error} />}
        <form.AppField
          name="name"
          validators={{ onSubmit: ({ value }) => (value.trim() === '' ? 'Name it.' : undefined) }}
        >
          {(field) => (
            <field.TextField label="Name" hint="Name its purpose, such as `CI` or `laptop`." maxLength={100} />
          )}
        </form.AppField>
        <form.Field
          name="scopes"
          validators={{ onSubmit: ({ value }) => (value.length === 0 ? 'Choose at least one.' : undefined) }}
        >
          {({ state: { value, meta }, handleChange }) => (
            <fieldset className="grid gap-2">
              <legend className="mb-1.5 text-sm font-medium">Scopes</legend>
              {offered.map((scope) => (
                <label key={scope} className="flex min-h-6 items-start gap-2.5 text-sm">
                  <input
                    type="checkbox"
                    className="mt-0.5 size-4 shrink-0 accent-accent"
                    checked={value.includes(scope)}
                    onChange={({ target }) =>
                      handleChange(target.checked ? [...value, scope] : value.filter((other) => other !== scope))
                    }
                  />
                  <span>
                    <span className="font-medium">{scope}</span> <span className="text-ink-muted">{SCOPES[scope]}</span>
                  </span>
                </label>
              ))}
              {meta.errors.length > 0 && <p className="text-[0.8125rem] text-bad">{meta.errors[0]}</p>}
            </fieldset>
          )}
        </form.Field>
        <form.AppField name="expires">
          {(field) => (
            <field.SelectField label="Ends">
              {Object.entries(LENGTHS).map(([value, label]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </field.SelectField>
          )}
        </form.AppField>
      </DialogForm>
    </>
  )
}

/** Shows the key, which is never shown again. */
function Made({ made, onClose }: { made: NewApiKey; onClose: () => void }) {
  const field = useRef<HTMLInputElement>(null)
  return (
    <>
      <DialogHeader title="Your new key" description="Copy it now: it is not shown again." />
      <div className="grid flex-1 content-start gap-3 px-4 py-5 sm:px-6">
        <Field label={made.name}>
          {(control) => (
            <Input
              {...control}
              ref={field}
              readOnly
              value={made.key}
              className="font-mono text-[0.8125rem]"
              onFocus={() => field.current?.select()}
            />
          )}
        </Field>
        <div className="justify-self-start">
          <CopyButton text={() => made.key} label="Copy the key" />
        </div>
      </div>
      <DialogFooter>
        <Button variant="primary" onClick={onClose}>
          I have it
        </Button>
      </DialogFooter>
    </>
  )
}
