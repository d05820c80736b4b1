import { Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogContent, DialogFooter, DialogHeader } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Input, Select } from '../../ui/input.tsx'
import type { Models } from './queries.ts'
import { providerOf } from './use-model.ts'

export const PROVIDER_NAMES: Record<Models['providers'][number]['provider'], string> = {
  anthropic: 'Anthropic',
  openai: 'OpenAI',
  google: 'Google',
  'openai-compatible': 'OpenAI-compatible',
}

const WHOSE = { user: 'your key', app: 'key of the app', none: 'no key' } as const

interface ModelDialogProps {
  models: Models
  chosen: string | undefined
  onChoose: (model: string | undefined) => void
  onClose: () => void
  onClosed: () => void
}

export function ModelDialog({ models, chosen, onChoose, onClose, onClosed }: ModelDialogProps) {
  const start = chosen ?? models.model ?? ''
  const [provider, setProvider] = useState(providerOf(start) || usable(models))
  const [name, setName] = useState(start.slice(start.indexOf(':') + 1))
  const [tried, setTried] = useState(false)
  const error = tried && !/^\S+$/.test(name.trim()) ? 'Name a model, as its provider writes it.' : undefined
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setTried(true)
    if (!/^\S+$/.test(name.trim())) return
    onChoose(`${provider}:${name.trim()}`)
    onClose()
  }
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()}>
      <DialogContent onClosed={onClosed}>
        <DialogHeader title="Model" description="Who answers in this browser. Keys are sealed on the server." />
        <form noValidate onSubmit={submit} className="flex min-h-0 flex-1 flex-col">
          <div className="grid flex-1 content-start gap-5 overflow-y-auto px-4 py-5 sm:px-6">
            <Field
              label="Provider"
              hint={
                <>
                  Keys are saved in{' '}
                  <Link to="/settings" search={{ tab: 'models' }} className="text-accent underline underline-offset-4">
                    Settings, Model keys
                  </Link>
                  .
                </>
              }
            >
              {(control) => (
                <Select {...control} value={provider} onChange={(event) => setProvider(event.target.value)}>
                  {models.providers.map((one) => (
                    <option key={one.provider} value={one.provider}>
                      {PROVIDER_NAMES[one.provider]} ({WHOSE[one.key]})
                    </option>
                  ))}
                </Select>
              )}
            </Field>
            <Field label="Model" hint="As the provider names it." error={error}>
              {(control) => (
                <Input
                  {...control}
                  className="font-mono"
                  value={name}
                  maxLength={280}
                  onChange={(event) => setName(event.target.value)}
                />
              )}
            </Field>
          </div>
          <DialogFooter>
            {models.model && (
              <Button
                className="mr-auto"
                onClick={() => {
                  onChoose(undefined)
                  onClose()
                }}
              >
                Use the operator’s
              </Button>
            )}
            <Button onClick={onClose}>Cancel</Button>
            <Button type="submit" variant="primary">
              Use it
            </Button>
          </DialogFooter>
        </form>
      </DialogContent>
    </Dialog>
  )
}

const usable = ({ providers }: Models): string =>
  (providers.find(({ key }) => key !== 'none') ?? providers[0])?.provider ?? 'anthropic'
