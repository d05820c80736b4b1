/** Stores results over the size limit and returns the beginning, a handle, the sections and how to read more. */
import type { AppConfig } from '../../schema/app-config.ts'
import type { JsonObject } from '../../schema/json.ts'
import type { ResultSection } from '../../schema/records/result.ts'
import type { Caller } from '../../schema/toolkit/tool.ts'
import { contentSize, isLargerThan } from '../../util/byte-size.ts'
import type { CallOutcome, Stage } from '../call.ts'
import { isRepeated } from '../results/outline.ts'
import type { Results, StoredResult } from '../results/results.ts'

const PREVIEW = 1200
const MAX_SECTIONS = 4
const MAX_NAME_LENGTH = 20
/** Images and audio are returned up to this size. */
const BINARY_BYTES = 5 * 1024 * 1024
/** Results for programs and workflows do not enter a model context, so their limit is higher. */
const MIN_BYTES: Partial<Record<Caller['type'], number>> = { code: 1024 * 1024, workflow: 4 * 1024 * 1024 }

export function withResults({ results, app }: { results: Results; app: { get(): Promise<AppConfig> } }): Stage {
  return (next) => async (call) => {
    const outcome = await next(call)
    if ('error' in outcome) return outcome
    const { limits } = await app.get()
    const { userId, callId, tool, stored, caller } = call
    const most = Math.max(limits.resultBytes, MIN_BYTES[caller.type] ?? 0)
    if (!isTooLarge(outcome, most)) return outcome
    const { status, content, structuredContent } = outcome
    const ref = `${stored.toolkit.id}.${tool}`
    const result = await results.keep({ userId, callId, ref, content, structuredContent })
    return { status, content: [{ type: 'text', text: previewOf(result) }], resultHandle: result.resultId }
  }
}

type Done = Extract<CallOutcome, { content: unknown }>

const isBinary = ({ type }: JsonObject) => type === 'image' || type === 'audio'

function isTooLarge({ content, structuredContent }: Done, most: number): boolean {
  const texts = content.filter((block) => !isBinary(block))
  return isOver(most, texts, structuredContent) || contentSize(content.filter(isBinary)) > BINARY_BYTES
}

/** Text that is repeated as structured content counts once. */
const isOver = (most: number, texts: readonly JsonObject[], structuredContent: unknown): boolean =>
  isLargerThan(most, texts, structuredContent) &&
  (structuredContent === undefined || !isRepeated(texts, structuredContent) || isLargerThan(most, texts))

function previewOf({ resultId, bytes, lines, isJson, sectionsJson, beginning }: StoredResult): string {
  const paths = isJson ? ', or a path into its JSON' : ''
  return [
    `The result is too large to show: ${bytes} bytes, ${lines} lines. It begins:`,
    '',
    truncateBytes(beginning, PREVIEW),
    '',
    ...describeSections(sectionsJson),
    `Read more with read_result({ handle: "${resultId}" }) and offset and limit, fromLine and lines${paths}.`,
  ].join('\n')
}

function describeSections(sections: readonly ResultSection[]): string[] {
  if (sections.length === 0) return []
  const last = sections.at(-1) as ResultSection
  // The last section is structured content, which JSON paths use, so it is always listed.
  const listed = sections.length > MAX_SECTIONS ? [...sections.slice(0, MAX_SECTIONS - 1), last] : sections
  const omitted = sections.length - listed.length
  const descriptions = listed.map(
    ({ what, firstLine, firstCharacter, characters, field }) =>
      `${cut(what)}${field === undefined ? '' : ` (also $.${cut(field)})`} from line ${firstLine}, offset ${firstCharacter}, ${characters} characters`,
  )
  return [`It has: ${descriptions.join('; ')}${omitted > 0 ? `; and ${omitted} more between` : ''}.`]
}

const cut = (name: string) => name.slice(0, MAX_NAME_LENGTH)

/** Cuts by bytes, the unit of the limit. */
function truncateBytes(text: string, most: number): string {
  const bytes = new TextEncoder().encode(text)
  return bytes.length <= most ? text : new TextDecoder().decode(bytes.slice(0, most)).replace(/\uFFFD+$/, '')
}
