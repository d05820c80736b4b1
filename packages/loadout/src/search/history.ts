/**
 * Extracts search hints from a conversation: its last words, and the tools that were called. Messages may come from any
 * SDK; unknown parts are ignored.
 */
import type { History } from '../schema/toolkit/selection.ts'

const MAX_PARTS = 200
/** Older words are about other topics. */
const LAST_WORDS = 2000
const LAST_MESSAGES = 6

export interface HistoryHints {
  /** Last words, newest first. */
  text: string
  /** Names of called tools. */
  called: Set<string>
}

export function parseHistory(history: History): HistoryHints {
  const called = new Set<string>()
  const texts: string[] = []
  for (const message of history) {
    const parts = partsOf(message)
    const text = parts.map((part) => textOf(part)).filter(Boolean)
    if (text.length > 0 && !isFromTool(message)) texts.push(text.join(' '))
    for (const part of parts) for (const name of namesOf(part)) called.add(name)
  }
  const text = texts.slice(-LAST_MESSAGES).reverse().join('\n').slice(0, LAST_WORDS)
  return { text, called }
}

type Part = string | Record<string, unknown>

function partsOf(message: History[number]): Part[] {
  if (typeof message === 'string') return [message]
  const { content, parts, tool_calls: calls } = message
  const candidates = [content, parts, calls]
    .flatMap((value) => (Array.isArray(value) ? value : [value]))
    .slice(0, MAX_PARTS)
  // A message may itself be the call, such as OpenAI's `function_call` items.
  return [...candidates, message].filter(isPart)
}

const isPart = (value: unknown): value is Part =>
  typeof value === 'string' || (typeof value === 'object' && value !== null)
const isFromTool = (message: History[number]) => typeof message === 'object' && message.role === 'tool'

function textOf(part: Part): string {
  if (typeof part === 'string') return part
  return typeof part.text === 'string' ? part.text : ''
}

/** AI SDK (`tool-call`), Anthropic (`tool_use`) and OpenAI (`function_call`, `tool_calls`). */
function namesOf(part: Part): string[] {
  if (typeof part === 'string') return []
  const { type, toolName, name, function: called } = part
  if (typeof toolName === 'string') return [toolName]
  if ((type === 'tool_use' || type === 'function_call') && typeof name === 'string') return [name]
  if (type === 'function' && typeof called === 'object' && called !== null && 'name' in called)
    return [String(called.name)]
  // UI messages of the AI SDK have the name in the type.
  return typeof type === 'string' && type.startsWith('tool-') && 'toolCallId' in part ? [type.slice(5)] : []
}
