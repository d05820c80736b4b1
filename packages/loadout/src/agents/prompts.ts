/** What is asked: the words of the last message of the user, and what was before it. */
import type { ModelMessage } from 'ai'

const LONGEST = 100_000
/** Of a long conversation the last messages say what is meant. */
const MOST_HEARD = 200

export function lastPrompt(messages: readonly ModelMessage[]): { prompt: string; history: ModelMessage[] } {
  const at = messages.findLastIndex(({ role }) => role === 'user')
  const last = messages[at]
  return {
    prompt: last ? textOf(last).slice(0, LONGEST) : '',
    history: messages.slice(0, Math.max(0, at)).slice(-MOST_HEARD),
  }
}

function textOf({ content }: ModelMessage): string {
  if (typeof content === 'string') return content
  return content
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('\n')
    .trim()
}
