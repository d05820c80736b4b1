/** JSON tree that renders only unfolded branches, so that large values stay fast. */

import { useState } from 'react'
import { VisibleText } from '../../ui/data/visible-text.tsx'

const FIRST = 100
const OPEN_SIZE = 12

export function JsonTree({ value, label }: { value: unknown; label: string }) {
  return (
    <section
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll container must be reachable by keyboard
      tabIndex={0}
      aria-label={label}
      className="max-h-[60dvh] overflow-auto rounded-lg border border-line bg-sunken p-3 font-mono text-[0.8125rem] leading-relaxed"
    >
      <Part value={value} depth={0} />
    </section>
  )
}

const entriesOf = (value: object): [string, unknown][] =>
  Array.isArray(value) ? value.map((item, index) => [String(index), item]) : Object.entries(value)

interface PartProps {
  name?: string
  value: unknown
  depth: number
}

function Part({ name, value, depth }: PartProps) {
  const key =
    name === undefined ? null : (
      <span className="text-accent">
        <VisibleText text={name} />:{' '}
      </span>
    )
  if (typeof value !== 'object' || value === null)
    return (
      <div className="wrap-anywhere whitespace-pre-wrap">
        {key}
        <Plain value={value} />
      </div>
    )
  return <Nested name={name} value={value} depth={depth} />
}

function Nested({ name, value, depth }: { name: string | undefined; value: object; depth: number }) {
  const entries = entriesOf(value)
  const [open, setOpen] = useState(depth < 2 && entries.length <= OPEN_SIZE * (2 - depth))
  const [limit, setLimit] = useState(FIRST)
  const size = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`
  if (entries.length === 0)
    return (
      <div>
        {name !== undefined && (
          <span className="text-accent">
            <VisibleText text={name} />:{' '}
          </span>
        )}
        {Array.isArray(value) ? '[]' : '{}'}
      </div>
    )
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="w-fit cursor-pointer rounded-sm">
        {name !== undefined && (
          <span className="text-accent">
            <VisibleText text={name} />:{' '}
          </span>
        )}
        <span className="text-ink-muted">{size}</span>
      </summary>
      {open && (
        <div className="border-l border-line pl-4">
          {entries.slice(0, limit).map(([key, item]) => (
            <Part key={key} name={key} value={item} depth={depth + 1} />
          ))}
          {entries.length > limit && (
            <button
              type="button"
              className="rounded-sm text-accent underline underline-offset-4"
              onClick={() => setLimit(limit + FIRST)}
            >
              {entries.length - limit} more
            </button>
          )}
        </div>
      )}
    </details>
  )
}

function Plain({ value }: { value: unknown }) {
  if (typeof value === 'string')
    return (
      <span className="text-good">
        <VisibleText text={JSON.stringify(value)} />
      </span>
    )
  return <span className="text-act">{String(value)}</span>
}
