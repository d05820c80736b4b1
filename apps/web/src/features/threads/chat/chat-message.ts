/** Chat messages with the server's data parts, and their conversion from stored messages. */
import type { UIMessage } from 'ai'
import type { StoredMessage, ThreadApproval } from '../queries.ts'

export interface SelectedTool {
  ref: string
  modelName: string
  toolkit: string
  by: 'always' | 'loaded' | 'sticky' | 'search'
  reasons: string[]
  tokens: number
  score?: number
}

export interface ChosenTools {
  tools: SelectedTool[]
  deferred: number
  dropped: Array<{ ref: string; reason: string }>
  /** Absent in answers that were stored before it existed. */
  unavailable?: Array<{ toolkit: string; code: string; reason: string }>
  tokens: { before: number; after: number; tokenizer: string; exact: boolean }
  strategy: string
  warnings: string[]
}

export interface ResponseUsage {
  inputTokens?: number
  outputTokens?: number
  totalTokens?: number
  steps: number
  stopped: string
}

type ChatData = {
  selection: ChosenTools
  approval: { toolCallId: string; approval: ThreadApproval }
  usage: ResponseUsage
}
interface ChatMetadata {
  createdAt?: string
  model?: string
}
export type ChatMessage = UIMessage<ChatMetadata, ChatData>
export type ChatPart = ChatMessage['parts'][number]
export type ToolPart = Extract<ChatPart, { type: 'dynamic-tool' }>

/** Pages and their messages come newest first. */
export function chatMessages(pages: ReadonlyArray<{ items: readonly StoredMessage[] }>): ChatMessage[] {
  const stored = pages.flatMap(({ items }) => items).reverse()
  // A response that failed at once has only its selection and is skipped.
  return stored
    .filter((message) => message.role === 'user' || hasContent(message))
    .map(
      ({ id, role, parts, metadata, createdAt }) =>
        ({ id, role, parts, metadata: { ...metadata, createdAt } }) as unknown as ChatMessage,
    )
}

/** Whether a message has text, reasoning, calls or files. */
const hasContent = ({ parts }: { parts: ReadonlyArray<{ type: string }> }): boolean =>
  parts.some(({ type }) => ['text', 'reasoning', 'dynamic-tool', 'file'].includes(type))

export const messageText = ({ parts }: Pick<ChatMessage, 'parts'>): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n')

export function dataOf<K extends keyof ChatData>({ parts }: Pick<ChatMessage, 'parts'>, kind: K): ChatData[K][] {
  return parts.flatMap((part) =>
    part.type === `data-${kind}` ? [(part as unknown as { data: ChatData[K] }).data] : [],
  )
}

/** Share of tool tokens that the selection saved, from 0 to 1. */
export const savedShare = ({ before, after }: { before: number; after: number }): number =>
  before <= 0 || after >= before ? 0 : (before - after) / before
