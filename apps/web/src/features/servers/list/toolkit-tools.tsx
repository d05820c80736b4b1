import { CircleOff, Search, TriangleAlert, Wrench } from 'lucide-react'
import { useDeferredValue, useState } from 'react'
import type { Toolkit } from '../../../lib/api.ts'
import { counted } from '../../../ui/data/format-time.ts'
import { Button } from '../../../ui/form/button.tsx'
import { Input, Select } from '../../../ui/form/input.tsx'
import { filterTools, TOOL_FILTERS, type ToolFilter } from '../tools/filter-tools.ts'
import { useReviewed } from '../tools/review.ts'
import { ServerToolList } from '../tools/tool-list.tsx'
import { isSwitchable, maxSwitchable } from '../tools/tool-switch.ts'
import { useSwitchTools } from '../use-tools.ts'

const FEW = 6

/** Tools with search and filter, and invalid tools with their reason. */
export function ToolkitTools({ toolkit }: { toolkit: Toolkit }) {
  const [q, setQ] = useState('')
  const [filter, setFilter] = useState<ToolFilter>('all')
  // A reviewed tool must be visible, so filters are cleared.
  const isReviewed = useReviewed(toolkit) !== undefined
  if (isReviewed && (q !== '' || filter !== 'all')) {
    setQ('')
    setFilter('all')
  }
  const visible = filterTools(toolkit.tools, useDeferredValue(q), filter)
  if (toolkit.tools.length === 0 && toolkit.setAside.length === 0)
    return (
      <p className="flex items-center gap-2 py-1 text-sm text-ink-muted">
        <Wrench aria-hidden className="size-4 shrink-0" />
        {toolkit.enabled
          ? 'No tools are known yet. Refresh to ask the server.'
          : 'Switch the server on to see its tools.'}
      </p>
    )
  return (
    <div className="grid gap-3">
      {toolkit.tools.length > FEW && (
        <div className="flex flex-wrap items-center gap-2">
          <div className="relative min-w-48 flex-1">
            <Search aria-hidden className="pointer-events-none absolute top-2.5 left-3 size-4 text-ink-faint" />
            <Input
              type="search"
              aria-label={`Find a tool of ${toolkit.name}`}
              placeholder="Find a tool"
              value={q}
              onChange={(event) => setQ(event.target.value)}
              className="pl-9"
            />
          </div>
          <div className="w-40">
            <Select
              aria-label={`Which tools of ${toolkit.name}`}
              value={filter}
              onChange={(event) => setFilter(event.target.value as ToolFilter)}
            >
              {Object.entries(TOOL_FILTERS).map(([value, { label }]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </Select>
          </div>
          <BulkSwitch toolkit={toolkit} tools={visible} />
        </div>
      )}
      <p role="status" className="sr-only">
        {counted(visible.length, 'tool')} shown
      </p>
      {visible.length > 0 ? (
        <ServerToolList toolkit={toolkit} tools={visible} />
      ) : (
        <p className="py-2 text-sm text-ink-muted">No tool fits. Clear the search to see all of them.</p>
      )}
      <Warnings toolkit={toolkit} />
      <SetAside toolkit={toolkit} />
    </div>
  )
}

/** Turns all visible tools on or off. */
function BulkSwitch({ toolkit, tools }: { toolkit: Toolkit; tools: Toolkit['tools'] }) {
  const { mutate, isPending } = useSwitchTools()
  if (tools.length === 0) return null
  const on = !tools.some(({ enabled }) => enabled)
  const names = tools.filter((tool) => tool.enabled !== on && isSwitchable(toolkit, tool)).map(({ name }) => name)
  if (names.length === 0) return null
  const max = maxSwitchable(toolkit, on)
  const isOver = names.length > max
  return (
    <Button
      size="small"
      className="h-9"
      aria-disabled={isPending || isOver}
      title={isOver ? `At most ${max} can be off one by one. Find fewer of them, or switch the server off.` : undefined}
      onClick={() => !isPending && !isOver && mutate({ toolkit, names, on })}
    >
      Switch {names.length.toLocaleString('en')} {on ? 'on' : 'off'}
    </Button>
  )
}

function Warnings({ toolkit: { warnings = [], name } }: { toolkit: Toolkit }) {
  if (warnings.length === 0) return null
  return (
    <details className="rounded-lg border bg-sunken/50 text-[0.8125rem]">
      <summary className="flex min-h-9 cursor-pointer items-center gap-2 rounded-lg px-3 text-ink-muted">
        <TriangleAlert aria-hidden className="size-3.5 shrink-0" />
        {counted(warnings.length, 'warning')}
      </summary>
      <ul aria-label={`Warnings of ${name}`} className="grid gap-2 border-t px-3 py-2.5 text-ink-muted">
        {warnings.map((warning) => (
          <li key={warning} className="wrap-anywhere">
            {warning}
          </li>
        ))}
      </ul>
    </details>
  )
}

function SetAside({ toolkit: { setAside, name } }: { toolkit: Toolkit }) {
  if (setAside.length === 0) return null
  return (
    <details className="rounded-lg border bg-sunken/50 text-[0.8125rem]">
      <summary className="flex min-h-9 cursor-pointer items-center gap-2 rounded-lg px-3 text-ink-muted">
        <CircleOff aria-hidden className="size-3.5 shrink-0" />
        {counted(setAside.length, 'tool')} set aside
      </summary>
      <ul aria-label={`Tools of ${name} that are set aside`} className="grid gap-2 border-t px-3 py-2.5">
        {setAside.map((tool) => (
          <li key={tool.name} className="grid gap-0.5">
            <span className="font-mono text-xs wrap-anywhere">{tool.name}</span>
            <span className="wrap-anywhere text-ink-muted">{tool.reason}</span>
          </li>
        ))}
      </ul>
    </details>
  )
}
