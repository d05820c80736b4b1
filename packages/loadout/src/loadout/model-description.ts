/** Shortens a description for models: whole sentences up to a limit, with "…" at the end. */
import { MODEL_DESCRIPTION } from '../schema/toolkit/tool.ts'

export function modelDescription(text: string): string {
  if (text.length <= MODEL_DESCRIPTION) return text
  const cut = text.slice(0, MODEL_DESCRIPTION - 1)
  const sentence = Math.max(...['. ', '.\n', '! ', '? ', '\n'].map((end) => cut.lastIndexOf(end) + 1))
  const word = cut.lastIndexOf(' ')
  // Without a sentence end, cut at a word; without words, at the limit.
  const at = [sentence, word].find((index) => index > cut.length / 2) ?? cut.length
  return `${cut.slice(0, at).toWellFormed().trimEnd()}…`
}
