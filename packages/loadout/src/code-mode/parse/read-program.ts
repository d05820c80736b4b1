/**
 * Reads a program in any form that models write and returns the body of an async function in JavaScript. Line numbers
 * are preserved. Supported forms:
 *
 * - TypeScript: types become spaces. Enums, namespaces, decorators and other non-type syntax are rejected.
 * - A fenced block (```ts … ```), alone or as the only block in prose.
 * - A top-level `return …`: unchanged.
 * - A last expression is returned, unless it is an effect (an assignment, `console.log`); this includes `main()` and
 *   `(async () => {…})()`.
 * - A last statement that is a function, as in `async () => {…}`, is called, with `input` if it has a parameter.
 * - Only functions: `main`, `run`, `program`, `execute`, `handler` or the only one is called.
 * - `export default …` is called if it is a function, else returned; other exports lose the keyword. Imports are
 *   rejected.
 *
 * It never throws, accepts at most 256 KiB, and its work is bounded by the length of the text.
 */
import { sleep } from '../../util/abort.ts'
import type { ProgramError } from '../executor.ts'
import { applyChanges, shape } from './normalize.ts'
import { eraseTypes, type Refused } from './strip-types.ts'
import { positionAt, type SourcePosition, type SyntaxNode, type Unread } from './syntax.ts'

type Parsers = typeof import('./parse.ts')

export type ProgramLanguage = 'javascript' | 'typescript'

export interface ProgramText {
  source: string
  /** @default detected */
  language?: ProgramLanguage | undefined
}

export interface ProgramFault extends ProgramError {
  code: 'syntax-error'
  line: number
  column: number
  /** Fix. */
  action: string
}

export type ReadProgram =
  /** `source`: body of an async function in JavaScript. It may end with a comment, so append a newline. */
  { ok: true; source: string; language: ProgramLanguage } | { ok: false; error: ProgramFault }

export const MAX_PROGRAM_BYTES = 256 * 1024

export async function readProgram({ source, language }: ProgramText): Promise<ReadProgram> {
  const bytes = source.length > MAX_PROGRAM_BYTES ? source.length : new TextEncoder().encode(source).length
  if (bytes > MAX_PROGRAM_BYTES)
    return fault({
      message: `The program is longer than ${MAX_PROGRAM_BYTES / 1024} KiB`,
      action: 'Make it shorter, and give data as its input.',
    })
  // Lazy import: pages without programs do not load the parsers.
  const parsers = await import('./parse.ts')
  const text = source.startsWith('\ufeff') ? ` ${source.slice(1)}` : source
  const fenced = unfence(text)
  if (fenced.form === 'foreign') return notOurs(fenced)
  if (fenced.form === 'whole') return read(parsers, fenced.text, language)
  const first = await read(parsers, text, language)
  if (first.ok || fenced.form === 'none') return first
  return fenced.form === 'among words' ? read(parsers, fenced.text, language) : several(fenced)
}

async function read(parsers: Parsers, text: string, language: ProgramLanguage | undefined): Promise<ReadProgram> {
  try {
    return await readText(parsers, text, language)
  } catch (error) {
    // A parsed tree may still be too deep to traverse.
    if (error instanceof RangeError) return fault({ message: 'It is nested too deep', action: SIMPLER })
    return fault({ message: 'It could not be read', action: SIMPLER })
  }
}

const SIMPLER = 'Write it in plain JavaScript, with fewer brackets inside each other.'

async function readText(parsers: Parsers, text: string, language: ProgramLanguage | undefined): Promise<ReadProgram> {
  if (text.trim() === '') return fault({ message: 'The program is empty', action: 'Write what it shall do.' })
  const parsed = await parseAs(parsers, text, language)
  if (!parsed.ok) return unreadable(text, parsed)
  await turn(text)
  const { body, isTyped } = parsed
  const erased = isTyped ? eraseTypes(text, body) : ({ ok: true, text } as const)
  if (!erased.ok) return refusal(text, erased.refused)
  const shaped = shape(text, isTyped ? body.filter((node) => !isErased(erased.text, node)) : body)
  if (!shaped.ok) return refusal(text, shaped.refused)
  const result = applyChanges(erased.text, shaped.changes)
  await turn(text)
  const runnable = parsers.parseBody(result)
  if (!runnable.ok) return unreadable(text, runnable)
  return { ok: true, source: result, language: isTyped ? 'typescript' : 'javascript' }
}

const LONG = 16 * 1024

/** Yields to the event loop between steps of long programs. */
const turn = async (text: string) => {
  if (text.length > LONG) await sleep(0, { keepAlive: true })
}

/** An erased type statement leaves only a semicolon. */
const isErased = (text: string, { start, end }: SyntaxNode): boolean => text.slice(start, end).trim() === ';'

/** `f<T>(x)` is a comparison in JavaScript and a call in TypeScript; programs mean the call. */
const GENERIC_CALL = /[\w$]<[^;(){}=<>]*(?:<[^;(){}=<>]*>[^;(){}=<>]*)*>\s*[(`]/

type ParsedAs = { ok: true; body: SyntaxNode[]; isTyped: boolean } | Unread

async function parseAs(parsers: Parsers, text: string, language: ProgramLanguage | undefined): Promise<ParsedAs> {
  const plain = language === 'typescript' ? undefined : parsers.parseJavaScript(text)
  const isSure = language === 'javascript' || !GENERIC_CALL.test(text)
  if (plain?.ok && isSure) return { ...plain, isTyped: false }
  // Length and depth errors also apply to the TypeScript parser.
  if (plain && !plain.ok && (language === 'javascript' || plain.action !== undefined)) return plain
  await turn(text)
  const typed = parsers.parseTypeScript(text)
  if (typed.ok) return { ...typed, isTyped: true }
  if (plain?.ok) return { ...plain, isTyped: false }
  // The parser that got further has the better error.
  return plain && plain.at > typed.at && typed.action === undefined ? plain : typed
}

function unreadable(text: string, { message, action, position }: Unread): ReadProgram {
  if (action !== undefined) return fault({ message, action, position })
  const line = text.split(/\r\n|[\n\r\u2028\u2029]/)[position.line - 1]?.trim() ?? ''
  const excerpt = line.length > 120 ? `${line.slice(0, 119)}…` : line
  return fault({ message, action: excerpt === '' ? 'Correct the program.' : `Correct it there: ${excerpt}`, position })
}

const refusal = (text: string, { message, action, at }: Refused): ReadProgram =>
  fault({ message, action, position: positionAt(text, at) })

const notOurs = ({ language, line }: Fenced & { form: 'foreign' }): ReadProgram =>
  fault({
    message: `The program is marked as ${language}`,
    action: 'Write it in JavaScript or TypeScript.',
    position: { line, column: 1 },
  })

const several = ({ line }: Fenced & { form: 'several' }): ReadProgram =>
  fault({
    message: 'There are several blocks of code',
    action: 'Give one program, without words around it.',
    position: { line, column: 1 },
  })

interface Fault {
  message: string
  action: string
  position?: SourcePosition | undefined
}

function fault({ message, action, position = { line: 1, column: 1 } }: Fault): ReadProgram {
  const where = `line ${position.line}, column ${position.column}`
  return { ok: false, error: { code: 'syntax-error', message: `${message} (${where})`, action, ...position } }
}

/** Markdown fence of a program. Removed lines become empty, so that line numbers stay. */

export type Fenced =
  | { form: 'none' }
  /** The whole text is one block. */
  | { form: 'whole'; text: string }
  /** One block in prose. */
  | { form: 'among words'; text: string }
  | { form: 'several'; line: number }
  /** A block in another language. */
  | { form: 'foreign'; language: string; line: number }

const FENCE = /^[ \t]*(?:`{3,}|~{3,})[ \t]*([\w+#-]*)[^`~]*$/
const ONE_LINE = /^\s*```(?:(?:js|javascript|ts|typescript)\s)?([^\n\r]*)```\s*$/
const OURS = [
  '',
  'js',
  'javascript',
  'mjs',
  'cjs',
  'jsx',
  'ts',
  'typescript',
  'mts',
  'cts',
  'tsx',
  'node',
  'code',
  'tool_code',
]

export function unfence(source: string): Fenced {
  if (!source.includes('```') && !source.includes('~~~')) return { form: 'none' }
  const line = ONE_LINE.exec(source)?.[1]
  if (line !== undefined) return { form: 'whole', text: line }
  const lines = source.split('\n')
  const fences = lines.flatMap((line, index) => {
    const language = FENCE.exec(line.replace(/\r$/, ''))?.[1]
    return language === undefined ? [] : [{ index, language: language.toLowerCase() }]
  })
  const [open, second] = fences
  if (!open) return { form: 'none' }
  const filled = lines.flatMap((line, index) => (line.trim() === '' ? [] : [index]))
  const isWhole = filled[0] === open.index
  if (!OURS.includes(open.language))
    return isWhole ? { form: 'foreign', language: open.language.slice(0, 30), line: open.index + 1 } : { form: 'none' }
  // A block that is the whole text ends at its last fence; inner fences are part of comments.
  const endsSo = fences.length > 1 && fences.at(-1)?.index === filled.at(-1)
  if (fences.length > 2 && !(isWhole && endsSo)) return { form: 'several', line: (fences[2]?.index ?? 0) + 1 }
  const close = (isWhole && endsSo ? fences.at(-1) : second)?.index ?? lines.length
  const text = lines.map((line, index) => (index > open.index && index < close ? line : '')).join('\n')
  return isWhole ? { form: 'whole', text } : { form: 'among words', text }
}
