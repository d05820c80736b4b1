import { useNavigate } from '@tanstack/react-router'
import { Search } from 'lucide-react'
import { useEffect, useId, useState } from 'react'
import { Input, Select } from '../../ui/form/input.tsx'
import { STRATEGIES, type Strategy } from './tools-search.ts'

const STRATEGY_LABELS: Record<Strategy, string> = {
  hybrid: 'Words and meaning',
  bm25: 'Words (BM25)',
  semantic: 'Meaning',
  regex: 'Pattern (regex)',
}
const PAUSE_MS = 250

/** Search input. The URL follows after a pause, so that Back returns to the previous search. */
export function SearchBar({ q, strategy }: { q: string; strategy: Strategy | undefined }) {
  const navigate = useNavigate({ from: '/tools' })
  const strategyId = useId()
  const [text, setText] = useState(q)
  useEffect(() => setText(q), [q])
  useEffect(() => {
    if (text === q) return
    const timer = setTimeout(
      () =>
        navigate({
          search: ({ q: _, ...rest }) => (text === '' ? rest : { ...rest, q: text }),
          resetScroll: false,
          replace: q !== '',
        }),
      PAUSE_MS,
    )
    return () => clearTimeout(timer)
  }, [text, q, navigate])
  const choose = (chosen: string) =>
    navigate({
      search: ({ strategy: _, ...rest }) => (chosen === '' ? rest : { ...rest, strategy: chosen as Strategy }),
      resetScroll: false,
    })
  return (
    <search className="grid grid-cols-[minmax(0,1fr)] gap-2 sm:grid-cols-[minmax(0,1fr)_auto]">
      <span className="relative block">
        <Search
          aria-hidden
          className="pointer-events-none absolute top-2.5 left-3 size-4 text-ink-muted"
          strokeWidth={1.75}
        />
        <Input
          type="search"
          aria-label="Search tools as the model does"
          placeholder="What should be done?"
          value={text}
          onChange={({ target }) => setText(target.value)}
          className="pl-9"
        />
      </span>
      <span>
        <label htmlFor={strategyId} className="sr-only">
          Strategy
        </label>
        <Select id={strategyId} value={strategy ?? ''} onChange={({ target }) => choose(target.value)}>
          <option value="">As the model</option>
          {STRATEGIES.map((value) => (
            <option key={value} value={value}>
              {STRATEGY_LABELS[value]}
            </option>
          ))}
        </Select>
      </span>
    </search>
  )
}
