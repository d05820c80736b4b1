import { useLayoutEffect, useRef, useState } from 'react'
import { cn } from '../cn.ts'
import { Button } from '../form/button.tsx'

/** Truncated text with a show-all button. */
export function LongText({ children, className }: { children: string; className?: string }) {
  const text = useRef<HTMLParagraphElement>(null)
  const [isLong, setLong] = useState(false)
  const [isWhole, setWhole] = useState(false)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another text has another height
  useLayoutEffect(() => {
    const { scrollHeight = 0, clientHeight = 0 } = text.current ?? {}
    if (!isWhole) setLong(scrollHeight > clientHeight + 1)
  }, [children, isWhole])
  return (
    <div className="grid justify-items-start gap-1">
      <p ref={text} className={cn('wrap-anywhere whitespace-pre-wrap', !isWhole && 'line-clamp-8', className)}>
        {children}
      </p>
      {isLong && (
        <Button
          size="small"
          variant="quiet"
          className="-ml-2"
          aria-expanded={isWhole}
          onClick={() => setWhole(!isWhole)}
        >
          {isWhole ? 'Show less' : 'Show all'}
        </Button>
      )}
    </div>
  )
}
