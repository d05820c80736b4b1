import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { answer, client } from '../../lib/api.ts'
import { ProblemNotice } from '../../lib/problems.tsx'
import { CopyButton } from '../../ui/data/copy-button.tsx'
import { Button } from '../../ui/form/button.tsx'
import { DialogForm, focusFirstField } from '../../ui/form/dialog-form.tsx'
import { Field } from '../../ui/form/field.tsx'
import { Input, Select } from '../../ui/form/input.tsx'
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
const LENGTHS = { never: 'Never', '30': 'In 30 days', '90': 'In 90 days', '365': 'In a year' }

interface DialogProps {
  onClose: () => void
  onClosed: () => void
}

export function NewKeyDialog({ onClose, onClosed }: DialogProps) {
  const queryClient = useQueryClient()
  const make = useMutation({
    mutationFn: (json: { name: string; scopes: Scope[]; expiresAt?: string; role?: 'operator' }) =>
      answer(client.api.keys.$post({ json })),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['keys'] }),
  })
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()}>
      <DialogContent onOpened={focusFirstField} onClosed={onClosed} keepOpen>
        {make.data ? (
          <Made made={make.data} onClose={onClose} />
        ) : (
          <KeyForm error={make.error} isPending={make.isPending} onMake={make.mutate} onClose={onClose} />
        )}
      </DialogContent>
    </Dialog>
  )
}

interface KeyFormProps {
  error: Error | null
  isPending: boolean
  onMake: (input: { name: string; scopes: Scope[]; expiresAt?: string; role?: 'operator' }) => void
  onClose: () => void
}

function KeyForm({ error, isPending, onMake, onClose }: KeyFormProps) {
  const session = useSession()
  const [name, setName] = useState('')
  const [scopes, setScopes] = useState<ReadonlySet<Scope>>(new Set(['read', 'write', 'call', 'approve']))
  const [ends, setEnds] = useState('never')
  const [tried, setTried] = useState(false)
  const offered = (Object.keys(SCOPES) as Scope[]).filter((scope) => scope !== 'operate' || session?.user?.operator)
  const toggle = (scope: Scope) => {
    const next = new Set(scopes)
    if (!next.delete(scope)) next.add(scope)
    setScopes(next)
  }
  const submit = () => {
    setTried(true)
    if (name.trim() === '' || scopes.size === 0) return
    const expiresAt = ends === 'never' ? {} : { expiresAt: new Date(Date.now() + Number(ends) * DAY_MS).toISOString() }
    const role = scopes.has('operate') ? { role: 'operator' as const } : {}
    onMake({ name: name.trim(), scopes: [...scopes], ...expiresAt, ...role })
  }
  return (
    <>
      <DialogHeader title="New API key" description="It acts in your name, within its scopes." />
      <DialogForm submit="Make key" busy={isPending && 'Making…'} onSubmit={submit} onCancel={onClose}>
        {error && <ProblemNotice error={error} />}
        <Field
          label="Name"
          hint="What it is for, so that you know it later."
          error={tried && name.trim() === '' ? 'Name it.' : undefined}
        >
          {(control) => (
            <Input {...control} maxLength={100} value={name} onChange={(event) => setName(event.target.value)} />
          )}
        </Field>
        <fieldset className="grid gap-2">
          <legend className="mb-1.5 text-sm font-medium">Scopes</legend>
          {offered.map((scope) => (
            <label key={scope} className="flex min-h-6 items-start gap-2.5 text-sm">
              <input
                type="checkbox"
                className="mt-0.5 size-4 shrink-0 accent-accent"
                checked={scopes.has(scope)}
                onChange={() => toggle(scope)}
              />
              <span>
                <span className="font-medium">{scope}</span> <span className="text-ink-muted">{SCOPES[scope]}</span>
              </span>
            </label>
          ))}
          {tried && scopes.size === 0 && <p className="text-[0.8125rem] text-bad">Choose at least one.</p>}
        </fieldset>
        <Field label="Ends">
          {(control) => (
            <Select {...control} value={ends} onChange={(event) => setEnds(event.target.value)}>
              {Object.entries(LENGTHS).map(([value, label]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </Select>
          )}
        </Field>
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
