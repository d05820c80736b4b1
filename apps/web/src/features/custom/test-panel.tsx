import { useMutation } from '@tanstack/react-query'
import { LoaderCircle, Play, Square } from 'lucide-react'
import { useRef, useState } from 'react'
import { answer, client } from '../../lib/api.ts'
import { ProblemNotice } from '../../lib/problems.tsx'
import { Card } from '../../ui/data/card.tsx'
import { Button } from '../../ui/form/button.tsx'
import { Field } from '../../ui/form/field.tsx'
import { Select } from '../../ui/form/input.tsx'
import { ValueEditor } from '../schema-form/schema-form.tsx'
import { checkArguments, type ValueProblem } from '../schema-form/validator.ts'
import type { CustomRecord } from './custom-record.ts'
import { TryOutcome } from './test-outcome.tsx'

interface TryPanelProps {
  name: string
  record: CustomRecord | undefined
  uscoId: string | undefined
  /** Whether the record is invalid and cannot run. */
  isBroken: boolean
  selected: number
  onSelect: (index: number) => void
}

/** Runs one tool of the unsaved record. The call is real, not simulated. */
export function TryPanel({ record, selected, onSelect, ...props }: TryPanelProps) {
  const tools = record?.tools ?? []
  const tool = tools[selected] ?? tools[0]
  const run = useTrial(props.name, record, props.uscoId)
  const [inputs, setInputs] = useState<Record<string, unknown>>({})
  const [problems, setProblems] = useState<readonly ValueProblem[]>([])
  const [isReadable, setReadable] = useState(true)
  const toolName = tool?.name ?? ''
  const input = inputs[toolName] ?? {}
  const canRun = tool !== undefined && !props.isBroken && isReadable && !run.trial.isPending
  const start = (allow: boolean) => {
    const found = checkArguments(tool?.inputSchema, input)
    setProblems(found)
    if (found.length === 0) run.start({ tool: toolName, input: Object(input), allow })
  }
  return (
    <Card className="grid min-w-0 gap-4 p-4 sm:p-5" aria-labelledby="try-title">
      <div className="grid gap-0.5">
        <h2 id="try-title" className="font-semibold tracking-tight">
          Try it
        </h2>
        <p className="text-[0.8125rem] text-ink-muted">One real call, without saving. The log has it.</p>
      </div>
      <Field label="Which tool">
        {(control) => (
          <Select
            {...control}
            value={String(tools.indexOf(tool as CustomRecord['tools'][number]))}
            disabled={tools.length === 0}
            onChange={(event) => onSelect(Number(event.target.value))}
          >
            {tools.map(({ name = '' }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a tool's name changes while it is typed
              <option key={index} value={index}>
                {name || 'unnamed'}
              </option>
            ))}
          </Select>
        )}
      </Field>
      {tool && (
        <ValueEditor
          key={`${selected} ${JSON.stringify(tool.inputSchema)}`}
          label="Input"
          schema={tool.inputSchema}
          value={input}
          problems={problems}
          onReadable={setReadable}
          onChange={(next) => {
            setInputs((old) => ({ ...old, [toolName]: next }))
            setProblems([])
          }}
        />
      )}
      <div className="flex flex-wrap items-center gap-2">
        <Button variant="primary" aria-disabled={!canRun} onClick={() => canRun && start(false)}>
          {run.trial.isPending ? (
            <LoaderCircle aria-hidden className="motion-safe:animate-spin" />
          ) : (
            <Play aria-hidden />
          )}
          {run.trial.isPending ? 'Running…' : 'Run'}
        </Button>
        {run.trial.isPending && (
          <Button onClick={run.stop}>
            <Square aria-hidden /> Stop
          </Button>
        )}
        {props.isBroken && <p className="text-[0.8125rem] text-ink-muted">Correct what is wrong first.</p>}
      </div>
      {run.trial.error && !run.isStopped && <ProblemNotice error={run.trial.error} />}
      {run.isStopped && <p className="text-sm text-ink-muted">Stopped. What it had done by then stays done.</p>}
      {run.trial.data && <TryOutcome trial={run.trial.data} onAllow={() => start(true)} />}
    </Card>
  )
}

interface TrialRequest {
  tool: string
  input: Record<string, unknown>
  allow: boolean
}

function useTrial(name: string, record: CustomRecord | undefined, uscoId: string | undefined) {
  const ended = useRef<AbortController>(undefined)
  const [isStopped, setStopped] = useState(false)
  const trial = useMutation({
    mutationFn: ({ tool, input, allow }: TrialRequest) => {
      const stopping = new AbortController()
      ended.current = stopping
      const json = {
        tool,
        input,
        allow,
        name: name.trim() || 'Tried',
        config_json: { ...record },
        ...(uscoId === undefined ? {} : { uscoId }),
      }
      return answer(client.api.mcp.config.try.$post({ json }, { init: { signal: stopping.signal } }))
    },
  })
  return {
    trial,
    isStopped,
    start: (request: TrialRequest) => {
      setStopped(false)
      trial.mutate(request)
    },
    stop: () => {
      setStopped(true)
      ended.current?.abort()
    },
  }
}
