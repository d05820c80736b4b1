/** Takes the secrets of a custom toolkit out of what its code gives, logs and throws. */
import type { CallOutcome } from '../calls/call.ts'
import type { JsonObject } from '../schema/json.ts'
import { formsOf, maskDeep, redact } from '../toolkits/redact.ts'
import type { LogLine } from './executor.ts'

export interface Mask {
  text(text: string): string
  outcome(outcome: CallOutcome): CallOutcome
}

/** The last of the log, where that is too long to be told. */
const LOG_CHARACTERS = 4000

export function createMask(secrets: readonly string[]): Mask {
  const forms = formsOf(secrets)
  // Of a result nothing else is hidden: a key that is not the toolkit's may be what was asked for.
  const deep = (value: unknown): unknown => maskDeep(value, forms)
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
