import { cn } from '../../../ui/cn.ts'
import { Card } from '../../../ui/data/card.tsx'
import { counted } from '../../../ui/data/format-time.ts'
import { CodeEditor } from '../../../ui/form/code-editor.tsx'
import type { Run } from '../queries.ts'
import { failedServers } from './failed-servers.ts'
import { Value } from './run-value.tsx'

/** Output, input, usage, warnings and log of a run. */
export function RunFacts({ run }: { run: Run }) {
  const { output, input, usage, failedToolkits = [], droppedToolkits = [], warnings = [], logs, program } = run
  const { named, others } = failedServers(failedToolkits, run.definition)
  const hasInput = input !== undefined && JSON.stringify(input) !== '{}'
  return (
    <Card aria-label="About the run" className="grid min-w-0 gap-5 p-4 sm:p-5">
      {run.status === 'completed' && <Value label="Output" value={output ?? null} />}
      {hasInput && <Value label="Input" value={input} />}
      {program !== undefined && <CodeEditor readOnly label="Program" language="typescript" lines={4} value={program} />}
      {usage && Object.keys(usage).length > 0 && <Usage usage={usage} />}
      {failedToolkits.length + droppedToolkits.length + warnings.length > 0 && (
        <NoteList title="Servers and warnings">
          {named.map((server) => (
            <FailedServer key={server.id} {...server} />
          ))}
          {others.length > 0 && (
            <li>
              <details>
                <summary className="cursor-pointer text-ink-muted">
                  {counted(others.length, 'server')} that it does not use did not serve
                </summary>
                <ul className="mt-1 grid gap-1 pl-4">
                  {others.map((server) => (
                    <FailedServer key={server.id} {...server} />
                  ))}
                </ul>
              </details>
            </li>
          )}
          {droppedToolkits.length > 0 && <li>Left away, for there were too many: {droppedToolkits.join(', ')}.</li>}
          {warnings.map((warning) => (
            <li key={warning}>{warning}</li>
          ))}
        </NoteList>
      )}
      <Logs logs={logs} />
      <p className="text-xs text-ink-faint">
        Run <code className="font-mono wrap-anywhere">{run.id}</code>
      </p>
    </Card>
  )
}

const SHORT = 160

/** Folds a long failure reason. */
function FailedServer({ id, reason }: { id: string; reason: string }) {
  if (reason.length <= SHORT)
    return (
      <li className="text-bad">
        {id} did not serve: {reason}
      </li>
    )
  return (
    <li>
      <details>
        <summary className="cursor-pointer text-bad">
          {id} did not serve: {reason.slice(0, SHORT)}…
        </summary>
        <p className="mt-1 pl-4 whitespace-pre-wrap text-ink-muted">{reason}</p>
      </details>
    </li>
  )
}

function NoteList({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <div className="grid gap-1">
      <h3 className="text-xs font-medium text-ink-muted">{title}</h3>
      <ul className="grid gap-1 text-sm wrap-anywhere">{children}</ul>
    </div>
  )
}

const USED: Readonly<Record<string, string>> = {
  calls: 'Calls',
  tokens: 'Tokens',
  inputTokens: 'Tokens read',
  outputTokens: 'Tokens written',
  steps: 'Steps',
}

function Usage({ usage }: { usage: Record<string, unknown> }) {
  return (
    <div className="grid gap-1">
      <h3 className="text-xs font-medium text-ink-muted">Used</h3>
      <dl className="flex flex-wrap gap-x-6 gap-y-1 text-sm">
        {Object.entries(usage).map(([name, count]) => (
          <div key={name} className="flex gap-1.5">
            <dt className="text-ink-muted">{USED[name] ?? name}</dt>
            <dd className="tabular-nums">
              {typeof count === 'number' ? count.toLocaleString('en') : JSON.stringify(count)}
            </dd>
          </div>
        ))}
      </dl>
    </div>
  )
}

const MAX_LINES = 500

function Logs({ logs }: { logs: Run['logs'] }) {
  if (logs.length === 0) return null
  const visible = logs.slice(-MAX_LINES)
  return (
    <div className="grid min-w-0 gap-1">
      <h3 className="text-xs font-medium text-ink-muted">Log</h3>
      <ol
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll container must be reachable by keyboard
        tabIndex={0}
        aria-label="Log"
        className="max-h-72 overflow-auto rounded-lg bg-sunken px-3 py-2 font-mono text-xs leading-relaxed"
      >
        {visible.map(({ level, text }, index) => (
          <li
            // biome-ignore lint/suspicious/noArrayIndexKey: lines of a log have nothing else
            key={index}
            className={cn(
              'wrap-anywhere whitespace-pre-wrap',
              level === 'error' && 'text-bad',
              level === 'warn' && 'text-act',
            )}
          >
            {text}
          </li>
        ))}
      </ol>
    </div>
  )
}
