/** Search results with scores and reasons, best first. */
import type { ToolHit } from './queries.ts'
import { ToolLink } from './tool-link.tsx'

export function SearchResults({ tools, chosen }: { tools: readonly ToolHit[]; chosen: string | undefined }) {
  const best = Math.max(...tools.map(({ score }) => score), 0)
  return (
    <ol aria-label="Tools that fit" className="divide-y overflow-hidden rounded-xl border bg-surface shadow-flat">
      {tools.map((tool) => (
        <li key={tool.ref}>
          <ToolLink tool={tool.ref} isChosen={chosen === tool.ref}>
            <span className="flex min-w-0 items-baseline gap-2">
              <span className="truncate font-mono text-[0.8125rem] font-medium">{tool.name}</span>
              <span className="truncate text-xs text-ink-muted">{tool.toolkit}</span>
              <span className="ml-auto shrink-0 text-xs text-ink-muted tabular-nums">
                <span className="sr-only">Score </span>
                {tool.score.toFixed(3)}
              </span>
            </span>
            <span aria-hidden className="block h-1 overflow-hidden rounded-full bg-line/60">
              <span
                className="block h-full rounded-full bg-accent"
                style={{ width: `${best > 0 ? Math.max(2, (tool.score / best) * 100) : 0}%` }}
              />
            </span>
            {tool.description && (
              <span className="block truncate text-[0.8125rem] text-ink-muted">{tool.description.split('\n')[0]}</span>
            )}
            <span className="block text-[0.8125rem] wrap-anywhere text-ink-muted">{tool.reasons.join(' · ')}</span>
          </ToolLink>
        </li>
      ))}
    </ol>
  )
}
