/** Test run of a tool: arguments as form or JSON, and results, newest first. */

import { Play, RotateCcw } from 'lucide-react'
import { useMemo, useRef, useState } from 'react'
import { BASE_PATH } from '../../../lib/base-path.ts'
import { CopyButton } from '../../../ui/data/copy-button.tsx'
import { Button } from '../../../ui/form/button.tsx'
import { defaultsOf } from '../../schema-form/defaults-of.ts'
import { ValueEditor } from '../../schema-form/schema-form.tsx'
import { checkArguments, type ValueProblem } from '../../schema-form/validator.ts'
import { useSession } from '../../shell/session.ts'
import { argumentsOf } from '../input-schema.ts'
import type { LocatedTool } from '../tool-rows.ts'
import { asCurl } from './as-curl.ts'
import { TryCard } from './test-card.tsx'
import { argumentProblems, isRunning } from './test-history.ts'
import type { TestHistory } from './use-test-history.ts'

interface TryProps {
  located: LocatedTool
  tries: TestHistory
}

export function TryTool({ located, tries }: TryProps) {
  const { toolkit, tool } = located
  const own = tries.tests.filter(({ ref }) => ref === tool.ref)
  const [latest] = own
  const [value, setValue] = useState<unknown>(() => latest?.arguments ?? defaultsOf(tool.inputSchema))
  const [problems, setProblems] = useState<readonly ValueProblem[]>([])
  const [isReadable, setReadable] = useState(true)
  const form = useRef<HTMLDivElement>(null)
  const drawn = useMemo(() => argumentsOf(tool.inputSchema), [tool.inputSchema])
  const change = (next: unknown) => {
    setValue(next)
    setProblems([])
  }
  const visibleProblems =
    problems.length > 0 ? problems : latest?.arguments === value ? argumentProblems(latest?.problem) : []
  const run = () => {
    const found = checkArguments(tool.inputSchema, value ?? {})
    setProblems(found)
    if (found.length > 0 || !isReadable) {
      // Focuses the first invalid field after the form has rendered it.
      requestAnimationFrame(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus())
      return
    }
    tries.run({
      toolkit: toolkit.id,
      tool: tool.name,
      ref: tool.ref,
      arguments: (value ?? {}) as Record<string, unknown>,
    })
  }
  return (
    <div className="grid min-w-0 gap-4">
      <div ref={form} className="min-w-0">
        <ValueEditor
          label="Arguments"
          schema={drawn}
          value={value}
          onChange={change}
          problems={visibleProblems}
          onReadable={setReadable}
        />
      </div>
      <TryActions located={located} value={value} onRun={run} onReset={() => change(defaultsOf(tool.inputSchema))} />
      {own.length > 0 && (
        <section aria-label="Tries" className="grid min-w-0 gap-3">
          {own.map((test) => (
            <TryCard
              key={test.id}
              test={test}
              isNewest={test === latest}
              toolkit={toolkit}
              tries={tries}
              onReuse={() => change(test.arguments)}
            />
          ))}
          {own.some((test) => !isRunning(test)) && (
            <Button
              size="small"
              variant="quiet"
              className="w-fit"
              onClick={() => tries.dispatch({ type: 'forget', ref: tool.ref })}
            >
              Forget these tries
            </Button>
          )}
        </section>
      )}
    </div>
  )
}

interface ActionsProps {
  located: LocatedTool
  value: unknown
  onRun: () => void
  onReset: () => void
}

function TryActions({ located: { toolkit, tool }, value, onRun, onReset }: ActionsProps) {
  const session = useSession()
  const withKey = session?.mode === 'multi-user'
  const curl = () =>
    asCurl({
      origin: `${window.location.origin}${BASE_PATH}`,
      toolkit: toolkit.id,
      tool: tool.name,
      arguments: value,
      withKey,
    })
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Button variant="primary" onClick={onRun}>
        <Play aria-hidden /> Run
      </Button>
      <Button variant="quiet" size="small" onClick={onReset}>
        <RotateCcw aria-hidden /> Start over
      </Button>
      <span className="ml-auto">
        <CopyButton label="Copy as curl" text={curl}>
          Copy as curl
        </CopyButton>
      </span>
    </div>
  )
}
