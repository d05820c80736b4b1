/** Splits a command line into words like a POSIX shell. Nothing is expanded and nothing is run. */
import { invalidFields } from '../../schema/json.ts'

const MAX_LINE_LENGTH = 20_000
const MAX_PLACEHOLDER_LENGTH = 100

export function splitWords(text: string): string[] {
  if (text.length > MAX_LINE_LENGTH)
    throw invalidFields([{ path: '(body)', message: `is a command line longer than ${MAX_LINE_LENGTH} characters` }])
  // A trailing backslash (or ^ and ` of Windows shells) continues the line.
  const line = text.replace(/[ \t]*[\\^`]\r?\n[ \t]*/g, ' ')
  const words: string[] = []
  let word: string | undefined
  for (let at = 0; at < line.length; ) {
    const { piece, next } = pieceAt(line, at)
    if (piece === undefined) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else word = (word ?? '') + piece
    at = next
  }
  return word === undefined ? words : [...words, word]
}

/** Token at an index: white space (no piece), a quoted piece, an escaped character, a placeholder or a single character. */
function pieceAt(line: string, at: number): { piece?: string; next: number } {
  const character = line[at] as string
  if (/\s/.test(character)) return { next: at + 1 }
  if (character === "'" || character === '"') return quoted(line, at)
  if (character === '\\' && /[\s"'\\$&|;<>()]/.test(line[at + 1] ?? ''))
    return { piece: line[at + 1] as string, next: at + 2 }
  const placeholder = /^<[\w .-]+>(?=[\s"',;:/@]|$)/.exec(line.slice(at, at + MAX_PLACEHOLDER_LENGTH))?.[0]
  if (placeholder) return { piece: placeholder, next: at + placeholder.length }
  if (/[|;<>`]/.test(character) || line.startsWith('&&', at) || line.startsWith('$(', at)) throw shellSyntax(character)
  return { piece: character, next: at + 1 }
}

function quoted(line: string, at: number): { piece: string; next: number } {
  const quote = line[at] as string
  let piece = ''
  for (let next = at + 1; next < line.length; next++) {
    const character = line[next] as string
    if (character === quote) return { piece, next: next + 1 }
    const escapes = quote === '"' && character === '\\' && /["\\$`]/.test(line[next + 1] ?? '')
    if (escapes) next++
    piece += line[next]
  }
  throw invalidFields([{ path: '(body)', message: `has a ${quote} that is not closed` }])
}

const shellSyntax = (character: string) =>
  invalidFields([
    {
      path: '(body)',
      message: `uses shell syntax (\`${character}\`), which Loadout does not run; give one command with its arguments`,
    },
  ])
