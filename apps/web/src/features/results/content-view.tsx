/** Result of a call: content blocks, structured content as a JSON tree, or the raw response. */
import { ExternalLink, FileDown, Link2 } from 'lucide-react'
import { useState } from 'react'
import { CopyButton } from '../../ui/data/copy-button.tsx'
import { Segmented } from '../../ui/form/choice.tsx'
import { JsonTree } from './json-tree.tsx'
import { LargeResult, TextBox } from './large-result.tsx'
import { type DisplayBlock, jsonIn, readBlock, textOfResult } from './read-block.ts'

export interface CallContent {
  content: readonly unknown[]
  structuredContent?: unknown
  /** Arguments that were sent although they differ from an annotation of the schema. */
  warnings?: readonly string[]
  resultHandle?: string | undefined
}

type View = 'shown' | 'structured' | 'raw'

export function ContentView({ result, label = 'The result' }: { result: CallContent; label?: string }) {
  const { content, structuredContent, resultHandle } = result
  const [view, setView] = useState<View>('shown')
  if (resultHandle !== undefined) return <LargeResult handle={resultHandle} />
  const options = [
    { value: 'shown' as const, label: 'Content' },
    ...(structuredContent === undefined ? [] : [{ value: 'structured' as const, label: 'Structured' }]),
    { value: 'raw' as const, label: 'Raw' },
  ]
  const raw = () => JSON.stringify(result, undefined, 2)
  return (
    <div className="grid min-w-0 gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <Segmented label={`${label} as`} value={view} options={options} onChange={setView} />
        <span className="ml-auto">
          <CopyButton
            label={`Copy ${label.toLowerCase()}`}
            text={() =>
              view === 'raw' ? raw() : textOfResult(view === 'structured' ? [] : content, structuredContent)
            }
          />
        </span>
      </div>
      {view === 'raw' && <TextBox text={raw()} label={`${label}, as it came`} />}
      {view === 'structured' && <JsonTree value={structuredContent} label={`${label}, structured`} />}
      {view === 'shown' && <Blocks content={content} structuredContent={structuredContent} label={label} />}
    </div>
  )
}

function Blocks({ content, structuredContent, label }: CallContent & { label: string }) {
  if (content.length === 0 && structuredContent !== undefined)
    return <JsonTree value={structuredContent} label={label} />
  if (content.length === 0) return <p className="text-sm text-ink-muted">It gave nothing back.</p>
  return content.map((block, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: blocks have no name and never move
    <Block key={index} block={readBlock(block)} label={content.length === 1 ? label : `${label}, part ${index + 1}`} />
  ))
}

function Block({ block, label }: { block: DisplayBlock; label: string }) {
  switch (block.kind) {
    case 'text':
      return <TextBlock text={block.text} label={label} />
    case 'image':
      return (
        <img
          src={`data:${block.mimeType};base64,${block.data}`}
          alt={label}
          className="max-h-96 max-w-full justify-self-start rounded-lg border bg-sunken"
        />
      )
    case 'audio':
      return (
        // biome-ignore lint/a11y/useMediaCaption: a tool's sound comes without a text of it
        <audio controls src={`data:${block.mimeType};base64,${block.data}`} aria-label={`${label}, a sound`} />
      )
    case 'link':
      return <LinkBlock link={block} />
    case 'file':
      return (
        <a
          href={`data:application/octet-stream;base64,${block.data}`}
          download={block.uri.split('/').at(-1) || 'result'}
          className="inline-flex w-fit items-center gap-2 rounded-lg border bg-raised px-3 py-2 text-sm"
        >
          <FileDown aria-hidden className="size-4 text-ink-muted" />
          Save {block.uri || 'the file'} ({block.mimeType})
        </a>
      )
    default:
      return <JsonTree value={block.value} label={label} />
  }
}

function TextBlock({ text, label }: { text: string; label: string }) {
  const json = jsonIn(text)
  return json === undefined ? <TextBox text={text} label={label} /> : <JsonTree value={json} label={label} />
}

function LinkBlock({ link: { name, uri, description, href } }: { link: Extract<DisplayBlock, { kind: 'link' }> }) {
  return (
    <div className="grid gap-0.5 rounded-lg border border-line bg-raised px-3 py-2 text-sm">
      <p className="flex items-center gap-2 font-medium wrap-anywhere">
        <Link2 aria-hidden className="size-4 shrink-0 text-ink-muted" />
        {href ? (
          <a href={href} target="_blank" rel="noreferrer" className="text-accent underline underline-offset-4">
            {name} <ExternalLink aria-hidden className="inline size-3.5" />
          </a>
        ) : (
          name
        )}
      </p>
      {name !== uri && <p className="font-mono text-[0.8125rem] wrap-anywhere text-ink-muted">{uri}</p>}
      {description && <p className="text-[0.8125rem] text-ink-muted">{description}</p>}
    </div>
  )
}
