import { Search } from 'lucide-react'
import type { ReactNode } from 'react'
import { Input, Select } from '../../../ui/form/input.tsx'
import { FILTER_LABELS, FILTERS, type Filter } from './filter-toolkits.ts'

interface ToolbarProps {
  q: string
  status: Filter | undefined
  onChange: (search: { q?: string | undefined; status?: Filter | undefined }) => void
  /** Further buttons. */
  children?: ReactNode
}

/** Search and state filter, kept in the URL. */
export function Toolbar({ q, status, onChange, children }: ToolbarProps) {
  return (
    <search className="flex flex-wrap gap-2">
      <div className="relative min-w-52 flex-1">
        <Search aria-hidden className="pointer-events-none absolute top-2.5 left-3 size-4 text-ink-faint" />
        <Input
          type="search"
          aria-label="Find a server or a tool"
          placeholder="Find a server or a tool"
          value={q}
          onChange={(event) => onChange({ q: event.target.value || undefined, status })}
          className="pl-9"
        />
      </div>
      <div className="w-52">
        <Select
          aria-label="Which servers"
          value={status ?? ''}
          onChange={(event) =>
            onChange({ q: q || undefined, status: FILTERS.find((filter) => filter === event.target.value) })
          }
        >
          <option value="">All servers</option>
          {FILTERS.map((filter) => (
            <option key={filter} value={filter}>
              {FILTER_LABELS[filter]}
            </option>
          ))}
        </Select>
      </div>
      {children}
    </search>
  )
}
