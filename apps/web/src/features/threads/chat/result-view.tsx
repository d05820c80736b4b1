import { JsonView } from '../../../ui/data/json-view.tsx'

interface Outcome {
  content?: Array<{ type?: string; text?: string; data?: string; mimeType?: string }>
  structuredContent?: unknown
  error?: { detail?: string; message?: string; action?: string }
  resultHandle?: string
}

const IMAGE = /^image\/(png|jpeg|gif|webp)$/

/** Result of a tool: structured content, or texts and images. */
export function ResultView({ output }: { output: unknown }) {
  const { content, structuredContent, error, resultHandle } = (output ?? {}) as Outcome
  if (error) return <JsonView label="Error" value={[error.detail ?? error.message, error.action].join('\n').trim()} />
  if (!Array.isArray(content)) return <JsonView label="Result" value={output ?? null} />
  const texts = content.flatMap(({ type, text }) => (type === 'text' && text !== undefined ? [text] : []))
  const pictures = content.filter(({ type, mimeType = '' }) => type === 'image' && IMAGE.test(mimeType))
  const others = content.filter((part) => part.type !== 'text' && !pictures.includes(part))
  return (
    <>
      {structuredContent === undefined ? (
        texts.length > 0 && <JsonView label="Result" value={texts.join('\n')} />
      ) : (
        <JsonView label="Result" value={structuredContent} />
      )}
      {pictures.map(({ data, mimeType }) => (
        <img
          key={data}
          src={`data:${mimeType};base64,${data}`}
          alt="What the tool gave"
          className="max-h-72 max-w-full justify-self-start rounded-lg border"
        />
      ))}
      {others.length > 0 && <JsonView label="More of the result" value={others} />}
      {content.length === 0 && structuredContent === undefined && (
        <p className="text-[0.8125rem] text-ink-muted">It gave nothing back.</p>
      )}
      {resultHandle !== undefined && (
        <p className="text-[0.8125rem] wrap-anywhere text-ink-muted">
          The result is larger than this; the rest is kept as <code className="font-mono">{resultHandle}</code>.
        </p>
      )}
    </>
  )
}
