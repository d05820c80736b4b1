import { VisibleText } from './visible-text.tsx'

/** Read-only JSON in a scrolling box. */
export function JsonView({ label, value }: { label: string; value: unknown }) {
  return (
    <figure className="grid gap-1">
      <figcaption className="text-xs font-medium text-ink-muted">{label}</figcaption>
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll container must be reachable by keyboard
        tabIndex={0}
        className="max-h-72 overflow-auto rounded-lg border bg-sunken px-3 py-2 font-mono text-xs leading-relaxed wrap-anywhere whitespace-pre-wrap"
      >
        <VisibleText text={typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '')} />
      </pre>
    </figure>
  )
}
