/** Converts a content block into a displayable form. Server content is displayed, never executed. */

export type DisplayBlock =
  | { kind: 'text'; text: string }
  | { kind: 'image' | 'audio'; mimeType: string; data: string }
  | { kind: 'link'; name: string; uri: string; description?: string; href?: string }
  | { kind: 'file'; uri: string; mimeType: string; data: string }
  | { kind: 'other'; value: unknown }

// Image formats that cannot contain scripts.
const PICTURES = /^image\/(png|jpeg|gif|webp|avif|bmp)$/
const SOUNDS = /^audio\/[\w.+-]{1,40}$/
const BASE64 = /^[A-Za-z0-9+/\s]*={0,2}\s*$/

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

export function readBlock(block: unknown): DisplayBlock {
  if (typeof block !== 'object' || block === null) return { kind: 'other', value: block }
  const { type, text, data, resource, name, title, uri, description } = block as Record<string, unknown>
  const mimeType = textOf((block as Record<string, unknown>).mimeType)
  if (type === 'text' && typeof text === 'string') return { kind: 'text', text }
  if ((type === 'image' || type === 'audio') && typeof data === 'string' && isPlayable(mimeType, data))
    return { kind: type, mimeType, data }
  if (type === 'resource_link' && typeof uri === 'string')
    return { kind: 'link', name: textOf(title) || textOf(name) || uri, uri, ...described(description), ...hrefOf(uri) }
  if (type === 'resource' && typeof resource === 'object' && resource !== null)
    return readResource(resource as Record<string, unknown>) ?? { kind: 'other', value: block }
  return { kind: 'other', value: block }
}

function readResource(resource: Record<string, unknown>): DisplayBlock | undefined {
  const { text, blob } = resource
  const mimeType = textOf(resource.mimeType)
  if (typeof text === 'string') return { kind: 'text', text }
  if (typeof blob !== 'string' || !BASE64.test(blob)) return undefined
  if (isPlayable(mimeType, blob)) return { kind: PICTURES.test(mimeType) ? 'image' : 'audio', mimeType, data: blob }
  return { kind: 'file', uri: textOf(resource.uri), mimeType: mimeType || 'application/octet-stream', data: blob }
}

const isPlayable = (mimeType: string, data: string): boolean =>
  (PICTURES.test(mimeType) || SOUNDS.test(mimeType)) && BASE64.test(data)

const described = (description: unknown) => (typeof description === 'string' ? { description } : {})

/** Only http and https become links; `javascript:` and `file:` stay text. */
function hrefOf(uri: string): { href?: string } {
  const { protocol } = URL.parse(uri) ?? {}
  return protocol === 'https:' || protocol === 'http:' ? { href: uri } : {}
}

/** Parses a text that is a JSON object or array; other text stays text. */
export function jsonIn(text: string): object | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    return JSON.parse(text) as object
  } catch {
    return undefined
  }
}

/** Text of a result for the clipboard. */
export function textOfResult(content: readonly unknown[], structuredContent: unknown): string {
  const texts = content.map(readBlock).map((block) => {
    if (block.kind === 'text') return block.text
    if (block.kind === 'link') return block.uri
    return block.kind === 'other' ? JSON.stringify(block.value, undefined, 2) : `[${block.mimeType}]`
  })
  if (texts.length > 0 || structuredContent === undefined) return texts.join('\n\n')
  return JSON.stringify(structuredContent, undefined, 2)
}
