import { ChevronRight } from 'lucide-react'
import { Card } from '../../../ui/data/card.tsx'
import { formatDuration } from '../../../ui/data/format-time.ts'
import type { Step } from '../queries.ts'
import { formatStep, isTelling } from './run-nodes.ts'
import { NodeBadge, stateOfStep } from './run-state.tsx'
import { Value } from './run-value.tsx'

/** Steps of a program run. */
export function RunSteps({ title, steps }: { title: string; steps: readonly Step[] }) {
  const telling = steps.filter(isTelling)
  return (
    <Card aria-label={title} className="overflow-hidden">
      <h2 className="border-b px-4 py-3 font-semibold tracking-tight sm:px-5">{title}</h2>
      {telling.length === 0 && <p className="px-5 py-4 text-sm text-ink-muted">It called nothing.</p>}
      <ol className="divide-y">
        {telling.map((step) => (
          <li key={step.id} className="px-4 py-3 sm:px-5">
            <StepDetail step={step} />
          </li>
        ))}
      </ol>
    </Card>
  )
}

/** One step with arguments (secrets masked), output and error. */
export function StepDetail({ step, isOpen = false }: { step: Step; isOpen?: boolean }) {
  const {
    arguments: args,
    message,
    when,
  } = (step.request ?? {}) as { arguments?: unknown; message?: unknown; when?: unknown }
  const isEmpty = typeof args === 'object' && args !== null && Object.keys(args).length === 0
  return (
    <details open={isOpen} className="group/step">
      <summary className="flex min-h-6 cursor-pointer list-none flex-wrap items-center gap-x-3 gap-y-1 rounded-sm [&::-webkit-details-marker]:hidden">
        <ChevronRight
          aria-hidden
          className="size-3.5 shrink-0 text-ink-faint transition-transform group-open/step:rotate-90"
        />
        <span className="min-w-0 flex-1 font-mono text-[0.8125rem] wrap-anywhere">{formatStep(step)}</span>
        <span className="text-xs text-ink-muted tabular-nums">{took(step)}</span>
        <NodeBadge state={stateOfStep(step)} />
      </summary>
      <div className="mt-3 grid gap-3 pl-5">
        {typeof message === 'string' && <p className="text-sm wrap-anywhere">{message}</p>}
        {when !== undefined && <p className="text-sm">The condition is {String(when)}.</p>}
        {args !== undefined && !isEmpty && <Value label="Arguments" value={args} />}
        {step.output !== undefined && <Value label="Output" value={step.output} cut={step.cut === true} />}
        {step.error && (
          <p className="text-sm wrap-anywhere text-bad">
            {step.error.message}{' '}
            {step.error.action && step.error.code !== 'sign-in-needed' && (
              <span className="text-ink">{step.error.action} </span>
            )}
            <code className="font-mono text-xs">{step.error.code}</code>
          </p>
        )}
      </div>
    </details>
  )
}

function took({ startedAt, endedAt }: Step): string {
  return endedAt === undefined ? '' : formatDuration(Date.parse(endedAt) - Date.parse(startedAt))
}
