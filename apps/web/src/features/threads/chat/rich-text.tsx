import { lazy, Suspense } from 'react'

const Loaded = lazy(() => import('./markdown-text.tsx').then(({ MarkdownText }) => ({ default: MarkdownText })))

/** Markdown, whose reader comes with the first answer. Until then the text as it is. */
export function RichText({ text }: { text: string }) {
  return (
    <Suspense fallback={<p className="wrap-anywhere whitespace-pre-wrap">{text}</p>}>
      <Loaded text={text} />
    </Suspense>
  )
}
