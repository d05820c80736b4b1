/** Reads a large result in pages by its handle. */

import { useInfiniteQuery } from '@tanstack/react-query'
import { answer, client } from '../../lib/api.ts'
import { ProblemNotice } from '../../lib/problems.tsx'
import { CopyButton } from '../../ui/data/copy-button.tsx'
import { VisibleText } from '../../ui/data/visible-text.tsx'
import { Button } from '../../ui/form/button.tsx'

const PAGE = 20_000
const counted = (count: number) => count.toLocaleString('en')

export function LargeResult({ handle }: { handle: string }) {
  const { data, error, hasNextPage, fetchNextPage, isFetching } = useInfiniteQuery({
    queryKey: ['results', handle],
    queryFn: ({ pageParam, signal }) =>
      answer(
        client.api.results[':id'].$get(
          { param: { id: handle }, query: { offset: String(pageParam), limit: String(PAGE) } },
          { init: { signal } },
        ),
      ),
    initialPageParam: 0,
    getNextPageParam: (page) => page.nextOffset,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const text = data?.pages.map((page) => page.text).join('') ?? ''
  const whole = data?.pages[0]?.characters ?? 0
  return (
    <div className="grid gap-2">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <p role="status" className="text-[0.8125rem] text-ink-muted">
          {data
            ? `${counted(text.length)} of ${counted(whole)} characters, ${counted(data.pages[0]?.lines ?? 0)} lines in all`
            : 'Reading the result'}
        </p>
        <span className="ml-auto">
          <CopyButton label="Copy what is shown of the result" text={() => text} />
        </span>
      </div>
      {error && <ProblemNotice error={error} />}
      <TextBox text={text} label="The result" />
      {hasNextPage && (
        <Button
          size="small"
          className="w-fit"
          aria-disabled={isFetching}
          onClick={() => !isFetching && fetchNextPage()}
        >
          {isFetching ? 'Reading…' : 'Read on'}
        </Button>
      )}
    </div>
  )
}

export function TextBox({ text, label }: { text: string; label: string }) {
  return (
    <section
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll container must be reachable by keyboard
      tabIndex={0}
      aria-label={label}
      className="max-h-[60dvh] overflow-auto rounded-lg border border-line bg-sunken p-3"
    >
      <pre className="font-mono text-[0.8125rem] leading-relaxed wrap-anywhere whitespace-pre-wrap">
        <VisibleText text={text} />
      </pre>
    </section>
  )
}
