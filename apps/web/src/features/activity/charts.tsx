/** Charts in theme colors, without animation. `ChartCard` adds a table to each. */
import {
  Area,
  AreaChart,
  Bar,
  BarChart,
  CartesianGrid,
  Line,
  LineChart,
  ResponsiveContainer,
  Tooltip,
  XAxis,
  YAxis,
} from 'recharts'
import { formatDuration } from '../../ui/data/format-time.ts'
import { formatBytes } from './activity-row.tsx'
import type { Series } from './chart-card.tsx'
import type { UsageHistory } from './queries.ts'

type Row = UsageHistory['buckets'][number] & { time: string }

const axis = {
  stroke: 'var(--line-strong)',
  tick: { fill: 'var(--ink-muted)', fontSize: 11 },
  tickLine: false,
} as const
const tooltip = {
  contentStyle: {
    background: 'var(--raised)',
    border: '1px solid var(--line)',
    borderRadius: '0.5rem',
    color: 'var(--ink)',
    fontSize: '0.75rem',
  },
  labelStyle: { color: 'var(--ink-muted)' },
  itemStyle: { color: 'var(--ink)', padding: 0 },
  cursor: { fill: 'var(--sunken)', stroke: 'var(--line)' },
  isAnimationActive: false,
} as const
const DOT = { r: 2, strokeDasharray: '' }
const still = { isAnimationActive: false } as const
const grid = <CartesianGrid stroke="var(--line)" vertical={false} />
const time = <XAxis dataKey="time" {...axis} minTickGap={28} />

const DONE = { label: 'Done', color: 'var(--accent)' }
const REFUSED = { label: 'Refused', color: 'var(--line-strong)' }
const ERRORS = { label: 'Errors', color: 'var(--bad)' }
const P50 = { label: 'Half within', color: 'var(--accent)' }
const P95 = { label: '95% within', color: 'var(--act)' }
export const CALLS_SERIES: readonly Series[] = [DONE, REFUSED, ERRORS]
export const DURATION_SERIES: readonly Series[] = [P50, P95]
export const TOOLS_SERIES: readonly Series[] = [DONE, ERRORS]

export function CallsChart({ rows }: { rows: readonly Row[] }) {
  const done = rows.map((row) => ({ ...row, done: row.calls - row.errors - row.refused }))
  return (
    <ResponsiveContainer>
      <BarChart data={done} margin={{ left: -18, right: 4, top: 4 }} accessibilityLayer={false}>
        {grid}
        {time}
        <YAxis {...axis} allowDecimals={false} />
        <Tooltip {...tooltip} />
        <Bar dataKey="done" name={DONE.label} stackId="calls" fill={DONE.color} {...still} />
        <Bar dataKey="refused" name={REFUSED.label} stackId="calls" fill={REFUSED.color} {...still} />
        <Bar dataKey="errors" name={ERRORS.label} stackId="calls" fill={ERRORS.color} {...still} />
      </BarChart>
    </ResponsiveContainer>
  )
}

export function DurationChart({ rows }: { rows: readonly Row[] }) {
  return (
    <ResponsiveContainer>
      <LineChart data={[...rows]} margin={{ left: -4, right: 4, top: 4 }} accessibilityLayer={false}>
        {grid}
        {time}
        <YAxis {...axis} tickFormatter={(value: number) => formatDuration(value)} />
        <Tooltip {...tooltip} formatter={(value) => formatDuration(Number(value))} />
        <Line dataKey="p50" name={P50.label} stroke={P50.color} strokeWidth={2} connectNulls dot={DOT} {...still} />
        <Line
          dataKey="p95"
          name={P95.label}
          stroke={P95.color}
          strokeWidth={2}
          strokeDasharray="4 3"
          connectNulls
          dot={DOT}
          {...still}
        />
      </LineChart>
    </ResponsiveContainer>
  )
}

export function SizeChart({ rows }: { rows: readonly Row[] }) {
  return (
    <ResponsiveContainer>
      <AreaChart data={[...rows]} margin={{ left: -2, right: 4, top: 4 }} accessibilityLayer={false}>
        {grid}
        {time}
        <YAxis {...axis} tickFormatter={(value: number) => formatBytes(value) ?? ''} />
        <Tooltip {...tooltip} formatter={(value) => formatBytes(Number(value))} />
        <Area dataKey="resultBytes" name="Results" stroke="var(--accent)" fill="var(--accent-soft)" {...still} />
      </AreaChart>
    </ResponsiveContainer>
  )
}

export function ToolsChart({ tools }: { tools: UsageHistory['tools'] }) {
  // Named `tool`, because rows become props and `ref` is reserved.
  const rows = tools.map(({ ref, calls, errors }) => ({ tool: ref, errors, done: calls - errors }))
  const short = (ref: string) => (ref.length > 24 ? `${ref.slice(0, 23)}…` : ref)
  return (
    <ResponsiveContainer>
      <BarChart data={rows} layout="vertical" margin={{ left: 4, right: 8, top: 4 }} accessibilityLayer={false}>
        <XAxis type="number" {...axis} allowDecimals={false} />
        <YAxis type="category" dataKey="tool" {...axis} width={150} interval={0} tickFormatter={short} />
        <Tooltip {...tooltip} />
        <Bar dataKey="done" name={DONE.label} stackId="calls" fill={DONE.color} {...still} />
        <Bar dataKey="errors" name={ERRORS.label} stackId="calls" fill={ERRORS.color} {...still} />
      </BarChart>
    </ResponsiveContainer>
  )
}
