/**
 * Tool references in the messages of an Anthropic conversation. The API expands a reference in every later request, so
 * referenced tools keep their definitions. References to removed tools are deleted from the messages; nothing else
 * changes.
 */
import { z } from 'zod'
import type { JsonObject } from '../../schema/json.ts'

export interface AnthropicMessage {
  role: string
  content: unknown
}

const reference = z.looseObject({ type: z.literal('tool_reference'), tool_name: z.string() })
const ownResult = z.looseObject({ type: z.literal('tool_result'), content: z.array(z.unknown()) })
/**
 * Results of the provider's search. In November 2025 errors and some results came as `tool_result` of a server tool.
 */
const searchResult = z.looseObject({
  type: z.enum(['tool_search_tool_result', 'tool_result']),
  content: z.looseObject({ type: z.literal('tool_search_tool_search_result'), tool_references: z.array(z.unknown()) }),
})
const searchError = z.looseObject({
  type: z.enum(['tool_search_tool_result', 'tool_result']),
  content: z.looseObject({
    type: z.literal('tool_search_tool_result_error'),
    error_code: z.string().max(100),
    error_message: z.string().nullish(),
  }),
})

const blocksOf = (content: unknown): unknown[] => (Array.isArray(content) ? content : [])

const namesIn = (blocks: readonly unknown[]): string[] =>
  blocks.flatMap((block) => {
    const read = reference.safeParse(block)
    return read.success ? [read.data.tool_name] : []
  })

/** Names of the tools that a block loads. */
export function loadedBy(block: unknown): string[] {
  const provider = searchResult.safeParse(block)
  if (provider.success) return namesIn(provider.data.content.tool_references)
  const clientResult = ownResult.safeParse(block)
  return clientResult.success ? namesIn(clientResult.data.content) : []
}

/** Error of the provider's search. */
export function searchFailure(block: unknown): { code: string; message?: string } | undefined {
  const read = searchError.safeParse(block)
  if (!read.success) return undefined
  const { error_code: code, error_message: message } = read.data.content
  return { code, ...(message ? { message } : {}) }
}

export const referencedIn = (messages: readonly AnthropicMessage[]): Set<string> =>
  new Set(messages.flatMap(({ content }) => blocksOf(content).flatMap(loadedBy)))

/**
 * Removes references to undefined tools, which the API would reject in every later request. The model reads that the
 * tool is gone. Unaffected blocks stay the same objects.
 */
export function withoutLost<M extends AnthropicMessage>(
  messages: readonly M[],
  tools: readonly { name: string }[],
): M[] {
  const definedNames = new Set(tools.map(({ name }) => name))
  const isLost = (block: unknown) => namesIn([block]).some((name) => !definedNames.has(name))
  return messages.map((message) => {
    const blocks = blocksOf(message.content)
    if (!blocks.some((block) => loadedBy(block).some((name) => !definedNames.has(name)))) return message
    return { ...message, content: blocks.map((block) => cleaned(block, isLost)) }
  })
}

function cleaned(block: unknown, isLost: (block: unknown) => boolean): unknown {
  const provider = searchResult.safeParse(block)
  if (provider.success) {
    const { content } = provider.data
    const tool_references = content.tool_references.filter((item) => !isLost(item))
    return { ...(block as JsonObject), content: { ...content, tool_references } }
  }
  const clientResult = ownResult.safeParse(block)
  if (!clientResult.success || !clientResult.data.content.some(isLost)) return block
  const remaining = clientResult.data.content.filter((item) => !isLost(item))
  const notice = { type: 'text', text: 'The tools found earlier are no longer available.' }
  return { ...(block as JsonObject), content: remaining.length > 0 ? remaining : [notice] }
}
