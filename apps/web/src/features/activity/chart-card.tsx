import { ChartColumn, Table2 } from 'lucide-react'
import { type ReactNode, useId, useState } from 'react'
import { Card } from '../../ui/data/card.tsx'
import { Segmented } from '../../ui/form/choice.tsx'

/** A series of a chart, with its label in the table. */
export interface Series {
  label: string
  color: string
}

interface ChartCardProps {
  title: string
  /** Legend, if there is more than one series. */
  series?: readonly Series[]
  head: readonly string[]
  rows: ReadonlyArray<readonly (string | number)[]>
  children: ReactNode
}

const VIEWS = [
  { value: 'chart', label: 'Chart', icon: <ChartColumn aria-hidden /> },
  { value: 'table', label: 'Table', icon: <Table2 aria-hidden /> },
] as const

/** A chart with the same numbers as an accessible table. */
export function ChartCard({ title, series, head, rows, children }: ChartCardProps) {
  const [view, setView] = useState<'chart' | 'table'>('chart')
  const id = useId()
  return (
    <Card aria-labelledby={id} className="grid min-w-0 content-start gap-3 p-4 sm:p-5">
      <div className="flex items-center justify-between gap-3">
        <h2 id={id} className="text-sm font-semibold tracking-tight">
          {title}
        </h2>
        <Segmented label={`${title}: view`} value={view} options={VIEWS} onChange={setView} iconOnly />
      </div>
      {rows.length === 0 ? (
        <p className="flex h-56 items-center justify-center text-sm text-ink-muted">There were no calls.</p>
      ) : view === 'chart' ? (
        <div className="flex h-56 flex-col gap-2 text-xs">
          {series && <Legend title={title} series={series} />}
          <div
            role="img"
            aria-label={`${title}, as a chart. The table has the same numbers.`}
            className="min-h-0 flex-1"
          >
            {children}
          </div>
        </div>
      ) : (
        <section
          aria-label={`${title}, as a table`}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll container must be reachable by keyboard
          tabIndex={0}
          className="h-56 overflow-auto"
        >
          <table className="w-full text-left text-[0.8125rem] tabular-nums">
            <thead className="sticky top-0 bg-surface">
              <tr>
                {head.map((label) => (
                  <th key={label} scope="col" className="border-b py-1.5 pr-4 font-medium text-ink-muted">
                    {label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map(([first, ...rest], index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place in time
                <tr key={index} className="border-b last:border-0">
                  <th scope="row" className="py-1.5 pr-4 font-normal wrap-anywhere">
                    {first}
                  </th>
                  {rest.map((value, column) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: a cell is its column
                    <td key={column} className="py-1.5 pr-4">
                      {value}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </Card>
  )
}

function Legend({ title, series }: { title: string; series: readonly Series[] }) {
  return (
    <ul aria-label={`${title}: colours`} className="flex flex-wrap gap-x-4 gap-y-1 text-ink-muted">
      {series.map(({ label, color }) => (
        <li key={label} className="flex items-center gap-1.5">
          <svg aria-hidden viewBox="0 0 10 10" className="size-2.5 shrink-0">
            <rect width="10" height="10" rx="2" fill={color} />
          </svg>
          {label}
        </li>
      ))}
    </ul>
  )
}
