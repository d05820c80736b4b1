import { useQuery } from '@tanstack/react-query'
import { ChevronRight } from 'lucide-react'
import { lazy, Suspense, useId, useState } from 'react'
import type { Toolkit } from '../../../lib/api.ts'
import { ProblemNotice } from '../../../lib/problems.tsx'
import { cn } from '../../../ui/cn.ts'
import { Skeleton } from '../../../ui/data/skeleton.tsx'
import { type Offered, offeredQuery, templatesQuery } from '../queries.ts'
import { type Argument, type OfferedItem, promptArguments, templateArguments } from './offered.ts'

const OfferedForm = lazy(() => import('./offered-form.tsx').then((module) => ({ default: module.OfferedForm })))

const EMPTY_LABELS: Record<Offered, string> = {
  resources: 'This server offers no resources.',
  prompts: 'This server offers no prompts.',
}
const MAX_ITEMS = 200

/** Resources and URI templates, or prompts, of a server; each can be read. */
export function OfferedList({ toolkit, kind }: { toolkit: Toolkit; kind: Offered }) {
  const { data: listed, error } = useQuery(offeredQuery(toolkit.uscoId, kind))
  const { data: templates = [] } = useQuery({ ...templatesQuery(toolkit.uscoId), enabled: kind === 'resources' })
  if (error && !listed) return <ProblemNotice error={error} />
  if (!listed)
    return (
      <div role="status" className="grid gap-3 py-2">
        <span className="sr-only">Asking the server</span>
        <Skeleton className="h-4 w-48" />
        <Skeleton className="h-4 w-64" />
      </div>
    )
  const entries = [...listed, ...templates].map(entryOf)
  if (entries.length === 0) return <p className="py-2 text-sm text-ink-muted">{EMPTY_LABELS[kind]}</p>
  return (
    <ul aria-label={`${kind === 'resources' ? 'Resources' : 'Prompts'} of ${toolkit.name}`} className="divide-y">
      {entries.slice(0, MAX_ITEMS).map((entry) => (
        <OfferedRow key={entry.key} toolkit={toolkit} entry={entry} />
      ))}
      {entries.length > MAX_ITEMS && (
        <li className="py-2.5 text-sm text-ink-muted">And {entries.length - MAX_ITEMS} more.</li>
      )}
    </ul>
  )
}

interface Entry {
  key: string
  label: string
  address: string
  description: string
  item: OfferedItem
  fields: Argument[]
}

function entryOf(listed: Record<string, unknown>): Entry {
  const name = text(listed.name)
  const uri = text(listed.uri)
  const uriTemplate = text(listed.uriTemplate)
  const common = { label: text(listed.title) || name, description: text(listed.description) }
  if (uriTemplate !== '')
    return {
      ...common,
      key: `template ${uriTemplate}`,
      address: uriTemplate,
      fields: templateArguments(uriTemplate),
      item: { kind: 'template', uriTemplate },
    }
  if (uri !== '')
    return { ...common, key: `resource ${uri}`, address: uri, fields: [], item: { kind: 'resource', uri } }
  const fields = promptArguments(listed.arguments)
  return { ...common, key: `prompt ${name}`, address: '', fields, item: { kind: 'prompt', name } }
}

function OfferedRow({ toolkit, entry }: { toolkit: Toolkit; entry: Entry }) {
  const [open, setOpen] = useState(false)
  const id = useId()
  return (
    <li className="grid gap-0.5 py-2.5">
      <button
        type="button"
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
        className="-ml-1 flex min-h-6 w-fit max-w-full items-start gap-1 rounded-md px-1 text-left"
      >
        <ChevronRight
          aria-hidden
          className={cn('mt-1 size-3.5 shrink-0 text-ink-faint transition-transform', open && 'rotate-90')}
        />
        <span className="min-w-0 text-sm font-medium wrap-anywhere">{entry.label}</span>
      </button>
      <div className="grid min-w-0 gap-0.5 pl-4.5">
        {entry.address && <p className="font-mono text-xs wrap-anywhere text-ink-muted">{entry.address}</p>}
        {entry.description && <p className="text-[0.8125rem] wrap-anywhere text-ink-muted">{entry.description}</p>}
        <div id={id} hidden={!open}>
          {open && (
            <Suspense fallback={<Skeleton className="h-8" />}>
              <OfferedForm toolkit={toolkit} item={entry.item} label={entry.label} fields={entry.fields} />
            </Suspense>
          )}
        </div>
      </div>
    </li>
  )
}

const text = (value: unknown) => (typeof value === 'string' ? value : '')
