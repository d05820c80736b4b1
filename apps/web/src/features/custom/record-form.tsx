import { CircleAlert, Plus } from 'lucide-react'
import { useState } from 'react'
import { cn } from '../../ui/cn.ts'
import { Card } from '../../ui/data/card.tsx'
import { Button } from '../../ui/form/button.tsx'
import { FieldError } from '../../ui/form/field.tsx'
import { asSentence } from '../schema-form/problem-paths.ts'
import { holdsPlaceholder, newSecret, type SecretRow } from '../servers/form/draft.ts'
import { SecretRows } from '../servers/form/secret-rows.tsx'
import { countOfTool, type FieldProblem, otherProblems } from './custom-problems.ts'
import { type CustomRecord, freeName, NEW_TOOL, withField } from './custom-record.ts'
import { ToolForm } from './tool-form.tsx'
import type { RecordState } from './use-record.ts'

interface RecordFormProps {
  record: CustomRecord
  state: RecordState
  tool: number
  onTool: (index: number) => void
}

export function RecordForm({ record, state, tool, onTool }: RecordFormProps) {
  const { problems, setRecord } = state
  const { tools } = record
  const selected = tools[tool] ? tool : 0
  const current = tools[selected]
  const add = () => {
    setRecord({ ...record, tools: [...tools, { ...NEW_TOOL, name: freeName(tools, 'new_tool') }] })
    onTool(tools.length)
  }
  const remove = () => {
    setRecord({ ...record, tools: tools.filter((_, index) => index !== selected) })
    onTool(Math.max(0, selected - 1))
  }
  return (
    <div className="grid min-w-0 gap-6">
      {otherProblems(problems).map(({ path, message }) => (
        <FieldError key={`${path} ${message}`}>
          {path === '(body)' ? asSentence(message) : `${path} ${message}.`}
        </FieldError>
      ))}
      <Card className="grid min-w-0 gap-5 p-4 sm:p-5" aria-label="Tools">
        <div className="flex flex-wrap items-center gap-1.5">
          {tools.map(({ name }, index) => (
            <ToolTab
              // biome-ignore lint/suspicious/noArrayIndexKey: a tool's name changes while it is typed
              key={index}
              name={name ?? ''}
              count={countOfTool(problems, index)}
              isSelected={index === selected}
              onSelect={() => onTool(index)}
            />
          ))}
          <Button size="small" onClick={add}>
            <Plus aria-hidden /> Add tool
          </Button>
        </div>
        {current ? (
          <ToolForm
            key={`${selected} of ${tools.length}`}
            tool={current}
            index={selected}
            problems={problems}
            onChange={(next) =>
              setRecord({ ...record, tools: tools.map((other, at) => (at === selected ? next : other)) })
            }
            onRemove={remove}
          />
        ) : (
          <p className="text-sm text-ink-muted">A toolkit has at least one tool. Add the first.</p>
        )}
      </Card>
      <Secrets record={record} problems={problems} onChange={setRecord} />
      {state.warnings.map((warning) => (
        <p key={warning} className="text-[0.8125rem] wrap-anywhere text-ink-muted">
          {warning}.
        </p>
      ))}
    </div>
  )
}

interface ToolTabProps {
  name: string
  count: number
  isSelected: boolean
  onSelect: () => void
}

function ToolTab({ name, count, isSelected, onSelect }: ToolTabProps) {
  return (
    <button
      type="button"
      aria-pressed={isSelected}
      onClick={onSelect}
      className={cn(
        'flex h-8 max-w-full items-center gap-1.5 rounded-lg border px-2.5 font-mono text-[0.8125rem] transition-colors',
        isSelected ? 'border-accent bg-accent-soft text-ink' : 'bg-raised text-ink-muted hover:text-ink',
      )}
    >
      <span className="truncate">{name || 'unnamed'}</span>
      {count > 0 && (
        <>
          <CircleAlert aria-hidden className="size-3.5 shrink-0 text-bad" />
          <span className="sr-only">, {count} wrong</span>
        </>
      )}
    </button>
  )
}

interface SecretsProps {
  record: CustomRecord
  problems: readonly FieldProblem[]
  onChange: (record: CustomRecord) => void
}

/** Local rows while typing: a row without a name is not part of the record yet. */
function Secrets({ record, problems, onChange }: SecretsProps) {
  const [rows, setRows] = useState<readonly SecretRow[]>(() => rowsOf(record.secrets))
  const problem = problems.find(({ path }) => path.startsWith('secrets.'))
  const change = (next: readonly SecretRow[]) => {
    setRows(next)
    const named = next.filter(({ name }) => name.trim() !== '')
    const secrets = Object.fromEntries(named.map(({ name, value }) => [name.trim(), sent(value)]))
    onChange(withField(record, 'secrets', named.length === 0 ? undefined : secrets))
  }
  return (
    <Card className="p-4 sm:p-5">
      <SecretRows
        field="values"
        label="Secrets"
        noun="secret"
        example="API_KEY"
        hint="Read in code as secrets.API_KEY. Stored encrypted, masked in results and logs."
        rows={rows}
        errors={problem ? { values: `${problem.path.slice('secrets.'.length)} ${problem.message}.` } : {}}
        onChange={change}
      />
    </Card>
  )
}

const sent = ({ stored, replaced, text }: SecretRow['value']) => (stored !== '' && !replaced ? stored : text)

const rowsOf = (secrets: CustomRecord['secrets'] = {}): SecretRow[] =>
  Object.entries(secrets).map(([name, secret], key) => {
    const text = String(secret)
    return { key, name, value: holdsPlaceholder(text) ? { ...newSecret(), stored: text } : { ...newSecret(), text } }
  })
