import { useQuery } from '@tanstack/react-query'
import { ListFilter, X } from 'lucide-react'
import { useId, useState } from 'react'
import { toolkitsQuery } from '../../lib/api.ts'
import { cn } from '../../ui/cn.ts'
import { Button } from '../../ui/form/button.tsx'
import { Field } from '../../ui/form/field.tsx'
import { Input, Select } from '../../ui/form/input.tsx'
import { ACTIONS, formatAction } from './activity-items.ts'
import { type ActivitySearch, countFilters } from './activity-search.ts'

type Filter = Exclude<keyof ActivitySearch, 'tab'>

interface FiltersProps {
  search: ActivitySearch
  onChange: (changed: ActivitySearch) => void
}

const OUTCOMES: Record<string, string> = {
  ok: 'Done',
  'tool-error': 'The tool failed',
  failed: 'Failed',
  denied: 'Denied',
  limited: 'Limit reached',
  'sign-in-needed': 'Sign-in needed',
  started: 'Started',
}
const CALLERS: Record<string, string> = { direct: 'Model or app', code: 'A program', workflow: 'A workflow' }
const DECISIONS: Record<string, string> = { allow: 'Allowed', ask: 'Asked', deny: 'Denied' }
const TIMES: Record<string, string> = {
  '1h': 'Last hour',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
}

/** Log filters, kept in the URL. */
export function Filters({ search, onChange }: FiltersProps) {
  const { data: toolkits = [] } = useQuery(toolkitsQuery())
  const id = useId()
  // Folded on small screens, where the filters would push the log down.
  const [isOpen, setOpen] = useState(false)
  const count = countFilters(search)
  const set = (name: Filter) => (value: string) => onChange({ [name]: value || undefined })
  const kits = Object.fromEntries(toolkits.map(({ id, name }) => [id, name]))
  const isBetween = search.from !== undefined || search.to !== undefined || search.range === 'between'
  const setTime = (range: string) =>
    onChange({ range: range || undefined, ...(range === 'between' ? {} : { from: undefined, to: undefined }) })
  return (
    <div className="grid gap-3">
      <Button
        className="justify-self-start sm:hidden"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        <ListFilter aria-hidden /> {isOpen ? 'Hide filters' : `Filters${count === 0 ? '' : ` (${count})`}`}
      </Button>
      <div
        id={id}
        className={cn('grid-cols-2 gap-3 sm:grid sm:grid-cols-3 lg:grid-cols-4', isOpen ? 'grid' : 'hidden')}
      >
        <Choice
          label="Time"
          any="All time"
          value={isBetween ? 'between' : search.range}
          onChange={setTime}
          options={{ ...TIMES, between: 'Between…' }}
        />
        <Choice label="Server" any="All servers" value={search.toolkit} onChange={set('toolkit')} options={kits} />
        <Field label="Tool name">
          {(control) => (
            <Input
              {...control}
              key={search.tool ?? ''}
              placeholder="server.tool"
              defaultValue={search.tool}
              onBlur={(event) =>
                event.target.value.trim() !== (search.tool ?? '') && set('tool')(event.target.value.trim())
              }
              onKeyDown={(event) => event.key === 'Enter' && event.currentTarget.blur()}
            />
          )}
        </Field>
        <Choice
          label="What"
          any="Everything"
          value={search.action}
          onChange={set('action')}
          options={Object.fromEntries(ACTIONS.map((action) => [action, formatAction(action)]))}
        />
        <Choice label="Outcome" any="Any" value={search.outcome} onChange={set('outcome')} options={OUTCOMES} />
        <Choice label="Asked for by" any="Anybody" value={search.caller} onChange={set('caller')} options={CALLERS} />
        <Choice label="Decision" any="Any" value={search.decision} onChange={set('decision')} options={DECISIONS} />
        {isBetween && <Moment label="From" value={search.from} onChange={set('from')} />}
        {isBetween && <Moment label="To" value={search.to} onChange={set('to')} />}
        {count > 0 && (
          <Button
            variant="quiet"
            size="small"
            className="-ml-2 justify-self-start self-end"
            onClick={() => onChange(NOTHING)}
          >
            <X aria-hidden /> Clear filters
          </Button>
        )}
      </div>
    </div>
  )
}

const NOTHING: ActivitySearch = {
  toolkit: undefined,
  tool: undefined,
  action: undefined,
  outcome: undefined,
  caller: undefined,
  decision: undefined,
  thread: undefined,
  range: undefined,
  from: undefined,
  to: undefined,
} as ActivitySearch

interface ChoiceProps {
  label: string
  any: string
  value: string | undefined
  options: Record<string, string>
  onChange: (value: string) => void
}

function Choice({ label, any, value = '', options, onChange }: ChoiceProps) {
  return (
    <Field label={label}>
      {(control) => (
        <Select {...control} value={value} onChange={(event) => onChange(event.target.value)}>
          <option value="">{any}</option>
          {value !== '' && !Object.hasOwn(options, value) && <option value={value}>{value}</option>}
          {Object.entries(options).map(([key, optionLabel]) => (
            <option key={key} value={key}>
              {optionLabel}
            </option>
          ))}
        </Select>
      )}
    </Field>
  )
}

function Moment({
  label,
  value,
  onChange,
}: {
  label: string
  value: string | undefined
  onChange: (value: string) => void
}) {
  return (
    <Field label={label}>
      {(control) => (
        <Input
          {...control}
          type="datetime-local"
          value={value ?? ''}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  )
}
