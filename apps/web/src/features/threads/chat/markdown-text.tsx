/** Renders a model's Markdown. HTML stays text and images become links, so nothing is fetched or executed. */
import Markdown, { type MarkdownToJSX } from 'markdown-to-jsx/react'
import type { ComponentProps } from 'react'

const heading = ({ children }: ComponentProps<'p'>) => <p className="mt-1 font-semibold tracking-tight">{children}</p>

const OVERRIDES: MarkdownToJSX.Overrides = {
  a: ({ href, children }: ComponentProps<'a'>) => (
    <a
      href={href}
      target="_blank"
      rel="noreferrer noopener"
      className="text-accent underline underline-offset-4 wrap-anywhere"
    >
      {children}
    </a>
  ),
  img: ({ src, alt }: ComponentProps<'img'>) => (
    <a href={src} target="_blank" rel="noreferrer noopener" className="text-accent underline underline-offset-4">
      {alt || 'Picture'}
    </a>
  ),
  // Headings of a response must not mix with the page's headings.
  ...Object.fromEntries(['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((level) => [level, heading])),
  ul: ({ children }: ComponentProps<'ul'>) => <ul className="grid list-disc gap-1 pl-5">{children}</ul>,
  ol: ({ children, start }: ComponentProps<'ol'>) => (
    <ol start={start} className="grid list-decimal gap-1 pl-5">
      {children}
    </ol>
  ),
  pre: ({ children }: ComponentProps<'pre'>) => (
    <pre
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll container must be reachable by keyboard
      tabIndex={0}
      className="overflow-x-auto rounded-lg border bg-sunken p-3 font-mono text-[0.8125rem] leading-relaxed [&_code]:bg-transparent [&_code]:p-0"
    >
      {children}
    </pre>
  ),
  code: ({ children }: ComponentProps<'code'>) => (
    <code className="rounded bg-sunken px-1 py-0.5 font-mono text-[0.85em] wrap-anywhere">{children}</code>
  ),
  blockquote: ({ children }: ComponentProps<'blockquote'>) => (
    <blockquote className="border-l-2 pl-3 text-ink-muted">{children}</blockquote>
  ),
  table: ({ children }: ComponentProps<'table'>) => (
    <div className="overflow-x-auto">
      <table className="text-sm [&_td]:border [&_td]:px-2.5 [&_td]:py-1 [&_th]:border [&_th]:bg-sunken [&_th]:px-2.5 [&_th]:py-1 [&_th]:text-left">
        {children}
      </table>
    </div>
  ),
}

const OPTIONS: MarkdownToJSX.Options = {
  disableParsingRawHTML: true,
  optimizeForStreaming: true,
  forceBlock: true,
  wrapper: 'div',
  overrides: OVERRIDES,
}

export function MarkdownText({ text }: { text: string }) {
  return (
    <div className="[&>div]:grid [&>div]:gap-3 [&>div>*]:min-w-0">
      <Markdown options={OPTIONS}>{text}</Markdown>
    </div>
  )
}
