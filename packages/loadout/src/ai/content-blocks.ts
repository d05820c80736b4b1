/**
 * Converts content of any SDK to MCP blocks; `result-parts.ts` is the inverse. Text, images, audio, files, links and
 * data are detected by shape; unknown parts stay unchanged.
 */
import { z } from 'zod'
import type { JsonObject } from '../schema/json.ts'

const text = z.looseObject({ type: z.enum(['text', 'input_text', 'output_text']), text: z.string() })
/** Anthropic: `image` and `document` with a source. */
const sourced = z.looseObject({
  type: z.enum(['image', 'document']),
  source: z.union([
    z.looseObject({ type: z.literal('base64'), media_type: z.string().max(200), data: z.string() }),
    z.looseObject({ type: z.literal('url'), url: z.string() }),
    z.looseObject({ type: z.literal('text'), data: z.string() }),
  ]),
})
/** OpenAI: Responses and Chat Completions. */
const imageUrl = z.looseObject({
  type: z.enum(['input_image', 'image_url']),
  image_url: z.union([z.string(), z.looseObject({ url: z.string() }).transform(({ url }) => url)]),
})
const inputFile = z.looseObject({
  type: z.literal('input_file'),
  filename: z.string().optional(),
  file_data: z.string(),
})
const inputAudio = z.looseObject({
  type: z.literal('input_audio'),
  input_audio: z.looseObject({ data: z.string(), format: z.string().max(20) }),
})
/** AI SDK: `file` with data, a URL or a text. */
const file = z.looseObject({
  type: z.literal('file'),
  mediaType: z.string().max(200),
  filename: z.string().optional(),
  data: z.union([
    z.string().transform((data) => ({ type: 'data' as const, data })),
    z.looseObject({ type: z.literal('data'), data: z.string() }),
    z.looseObject({ type: z.literal('url'), url: z.union([z.string(), z.instanceof(URL).transform(String)]) }),
    z.looseObject({ type: z.literal('text'), text: z.string() }),
  ]),
})
const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)(?:;[\w=.+-]+)*;base64,(.*)$/s

/** Converts one part, or a text, to a block. */
export function contentBlock(part: unknown): JsonObject {
  if (typeof part === 'string') return { type: 'text', text: part }
  const textPart = text.safeParse(part)
  if (textPart.success) return { type: 'text', text: textPart.data.text }
  const block = fromAnthropic(part) ?? fromOpenAI(part) ?? fromAISDK(part)
  if (block) return block
  return typeof part === 'object' && part !== null && !Array.isArray(part)
    ? { ...part }
    : { type: 'text', text: JSON.stringify(part) ?? '' }
}

export const contentBlocks = (content: unknown): JsonObject[] =>
  (Array.isArray(content) ? content : content === undefined || content === null ? [] : [content]).map(contentBlock)

function fromAnthropic(part: unknown): JsonObject | undefined {
  const read = sourced.safeParse(part)
  if (!read.success) return undefined
  const { source } = read.data
  if (source.type === 'base64') return mediaBlock(source.media_type, source.data)
  if (source.type === 'text') return { type: 'text', text: source.data }
  return linkBlock(source.url)
}

function fromOpenAI(part: unknown): JsonObject | undefined {
  const image = imageUrl.safeParse(part)
  if (image.success) return urlBlock(image.data.image_url)
  const filePart = inputFile.safeParse(part)
  if (filePart.success) return urlBlock(filePart.data.file_data, filePart.data.filename)
  const audio = inputAudio.safeParse(part)
  if (!audio.success) return undefined
  const { data, format } = audio.data.input_audio
  return mediaBlock(`audio/${format === 'mp3' ? 'mpeg' : format}`, data)
}

function fromAISDK(part: unknown): JsonObject | undefined {
  const read = file.safeParse(part)
  if (!read.success) return undefined
  const { mediaType, filename, data } = read.data
  if (data.type === 'url') return linkBlock(data.url, filename)
  if (data.type === 'text') return resourceBlock(filename, { mimeType: mediaType, text: data.text })
  return mediaBlock(mediaType, data.data, filename)
}

function urlBlock(url: string, name?: string): JsonObject {
  const [, mediaType, data] = DATA_URL.exec(url) ?? []
  return mediaType !== undefined && data !== undefined ? mediaBlock(mediaType, data, name) : linkBlock(url, name)
}

function mediaBlock(mimeType: string, data: string, name?: string): JsonObject {
  if (mimeType.startsWith('image/')) return { type: 'image', mimeType, data }
  if (mimeType.startsWith('audio/')) return { type: 'audio', mimeType, data }
  return resourceBlock(name, { mimeType, blob: data })
}

const resourceBlock = (name: string | undefined, content: JsonObject): JsonObject => ({
  type: 'resource',
  resource: { uri: `file:///${encodeURIComponent(name ?? 'file')}`, ...content },
})

const linkBlock = (uri: string, name?: string): JsonObject => ({
  type: 'resource_link',
  uri,
  name: name ?? uri.split(/[?#]/)[0]?.split('/').at(-1) ?? uri,
})
