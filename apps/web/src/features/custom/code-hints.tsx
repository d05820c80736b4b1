import { BookOpen } from 'lucide-react'

const NAMES: ReadonlyArray<[name: string, what: string]> = [
  ['input', 'the arguments, which fit what the tool takes'],
  ['secrets.NAME', 'a secret of this toolkit'],
  ['fetch(url, options)', 'from the hosts that the tool names: status, ok, headers, text(), json()'],
  ['toolkit.tool(input)', 'a tool of yours that the tool names; call("toolkit.tool", input) does the same'],
  ['console.log(…)', 'shown in a try, and where it fails'],
  ['return', 'the result: a text, a JSON value, or { content, structuredContent }'],
  ['throw', 'the tool’s error'],
]

/** Globals available in tool code. */
export function CodeHints() {
  return (
    <details className="rounded-2xl border bg-surface shadow-flat">
      <summary className="flex min-h-12 cursor-pointer items-center gap-2 rounded-2xl px-4 text-sm font-medium sm:px-5">
        <BookOpen aria-hidden className="size-4 text-ink-muted" /> What the code has
      </summary>
      <dl className="grid gap-3 border-t px-4 py-4 text-[0.8125rem] sm:px-5">
        {NAMES.map(([name, what]) => (
          <div key={name} className="grid gap-0.5">
            <dt className="font-mono text-xs text-accent">{name}</dt>
            <dd className="text-ink-muted">{what}</dd>
          </div>
        ))}
      </dl>
      <p className="border-t px-4 py-3 text-[0.8125rem] text-ink-muted sm:px-5">
        It runs in a sandbox of its own, within the limits of programs. Calls and fetches pass the same rules as
        anybody’s.
      </p>
    </details>
  )
}
