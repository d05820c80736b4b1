/** What comes of a call, as a program gets it: a value, or an error with its code. */
import type { CallOutcome } from '../calls/call.ts'
import type { StepResult } from '../runs/engine.ts'
import type { Json, JsonObject } from '../schema/json.ts'

export function resultOf(outcome: CallOutcome): StepResult {
  if ('error' in outcome) {
    const { code, message, action, errors } = outcome.error
    return { error: { code, message, data: { action, ...(errors ? { errors } : {}) } } }
  }
  const { status, content, structuredContent, resultHandle } = outcome
  const text = textOf(content)
  if (status === 'tool-error') {
    const said = structuredContent === undefined ? {} : { structuredContent }
    return { error: { code: 'tool-error', message: text || 'The tool failed.', data: { content, ...said } } }
  }
  // Too large to hand over: `read_result` reads it by its handle.
  if (resultHandle !== undefined) return { value: { resultHandle, preview: text ?? '' } }
  return { value: structuredContent ?? plainOf(content, text) }
}

function textOf(content: readonly JsonObject[]): string | undefined {
  const texts = content.map(({ type, text }) => (type === 'text' && typeof text === 'string' ? text : undefined))
  return texts.every((text) => text !== undefined) ? texts.join('\n') : undefined
}

/** Text that is JSON is what it says; other content is given as the blocks that it is. */
function plainOf(content: readonly JsonObject[], text: string | undefined): Json {
  if (text === undefined) return content
  if (content.length === 0) return null
  if (!/^\s*[[{]/.test(text)) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
