import { lazy, Suspense } from 'react'

const Loaded = lazy(() => import('./markdown-text.tsx').then(({ MarkdownText }) => ({ default: MarkdownText })))

/** Markdown, loaded on first use; plain text until then. */
export function RichText({ text }: { text: string }) {
  return (
    <Suspense fallback={<p className="wrap-anywhere whitespace-pre-wrap">{text}</p>}>
      <Loaded text={text} />
    </Suspense>
  )
}
