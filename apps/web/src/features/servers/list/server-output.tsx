import type { SyntheticEvent } from 'react'
import { CopyButton } from '../../../ui/data/copy-button.tsx'
import { ScrollRegion } from '../../../ui/layout/scroll-region.tsx'

// Scrolls to the end, where the last error is.
function toEnd(region: Element | null): void {
  if (region) region.scrollTop = region.scrollHeight
}
/** A folded region has no height, so it scrolls on unfold. */
const showEnd = ({ currentTarget }: SyntheticEvent) => toEnd(currentTarget.querySelector('[role=group]'))

/** Output of a process. */
export function ServerOutput({ output, of, open = false }: { output: string; of: string; open?: boolean }) {
  return (
    <details open={open} onToggle={showEnd} className="group min-w-0 rounded-lg border bg-sunken/60 text-[0.8125rem]">
      <summary className="flex min-h-8 cursor-pointer items-center rounded-lg px-3 font-medium text-ink-muted">
        What the server printed
      </summary>
      <div className="grid gap-1 border-t px-3 py-2">
        <ScrollRegion ref={toEnd} label={`What ${of} printed`} className="max-h-64 overflow-auto">
          <pre className="font-mono text-xs leading-relaxed whitespace-pre-wrap wrap-anywhere">{output}</pre>
        </ScrollRegion>
        <div className="-mx-2 -mb-1">
          <CopyButton text={() => output} label={`Copy what ${of} printed`} />
        </div>
      </div>
    </details>
  )
}
