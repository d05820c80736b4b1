/** Takes the secrets of a custom toolkit out of what its code gives, logs and throws. */
import type { CallOutcome } from '../calls/call.ts'
import type { JsonObject } from '../schema/json.ts'
import { MASK, redact, secretForms } from '../toolkits/redact.ts'
import type { LogLine } from './executor.ts'

export interface Mask {
  text(text: string): string
  outcome(outcome: CallOutcome): CallOutcome
}

/** The last of the log, where that is too long to be told. */
const LOG_CHARACTERS = 4000

export function createMask(secrets: readonly string[]): Mask {
  const forms = [...new Set(secrets.flatMap(secretForms))].sort((a, b) => b.length - a.length)
  // Of a result nothing else is hidden: a key that is not ours may be what was asked for.
  const own = (text: string) => forms.reduce((masked, form) => masked.replaceAll(form, MASK), text)
  const deep = (value: unknown): unknown => {
    if (typeof value === 'string') return own(value)
    if (Array.isArray(value)) return value.map(deep)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [own(key), deep(inner)]))
  }
  return {
    text: (text) => redact(text, secrets),
    outcome(outcome) {
      if ('error' in outcome || forms.length === 0) return outcome
      const { content, structuredContent, ...rest } = outcome
      return {
        ...rest,
        content: content.map((block) => deep(block) as JsonObject),
        ...(structuredContent === undefined ? {} : { structuredContent: deep(structuredContent) }),
      }
    },
  }
}

/** For a person who asks why it failed. */
export function toldLogs(logs: readonly LogLine[]): string {
  const text = logs.map(({ level, text }) => (level === 'log' ? text : `${level}: ${text}`)).join('\n')
  return text.length > LOG_CHARACTERS ? `…${text.slice(-LOG_CHARACTERS)}` : text
}
