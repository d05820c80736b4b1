/**
 * Reads a program as a model or a person writes it, and gives the body of an async function in JavaScript that an executor runs.
 * Lines of what is given stay lines of what is run, so that the place of an error fits what was written. What it understands:
 *
 * - TypeScript: types become spaces. An enum, a namespace, a decorator and whatever else is code and not a type is refused.
 * - A fenced block (```ts … ```), alone or, where the text is no program, as the only one among words.
 * - `return …` at the top level: taken as it is.
 * - A last statement that is an expression is returned, unless it is done for its effect (an assignment, `console.log`).
 *   So are a single expression, `main()` after `async function main() {…}`, and `(async () => {…})()`.
 * - A last statement that is a function, as in `async () => {…}`, is called; with `input` where it has a parameter.
 * - Nothing but functions: `main`, `run`, `program`, `execute` or `handler` is called, or the only one.
 * - `export default …` is called where it is a function, else returned; other exports lose the word. Imports are refused.
 *
 * It never throws, takes at most 256 KiB, and its work is bounded by the length of the text.
 */
import type { ProgramError } from './executor.ts'
import { type Fenced, unfence } from './program-fence.ts'
import type { Unread } from './program-parse.ts'
import { applyChanges, shape } from './program-shape.ts'
import { type Node, type Place, placeOf } from './program-tree.ts'
import { eraseTypes, type Refused } from './program-types.ts'

type Parsers = typeof import('./program-parse.ts')

export type ProgramLanguage = 'javascript' | 'typescript'

export interface ProgramText {
  source: string
  /** Either, where it is not said. */
  language?: ProgramLanguage | undefined
}

export interface ProgramFault extends ProgramError {
  code: 'syntax-error'
  line: number
  column: number
  /** What to do about it. */
  action: string
}

export type ReadProgram =
  /** `source`: the body of an async function, in JavaScript. A comment may be its last word: what follows needs a new line. */
  { ok: true; source: string; language: ProgramLanguage } | { ok: false; error: ProgramFault }

export const MAX_PROGRAM_BYTES = 256 * 1024

export async function readProgram({ source, language }: ProgramText): Promise<ReadProgram> {
  const bytes = source.length > MAX_PROGRAM_BYTES ? source.length : new TextEncoder().encode(source).length
  if (bytes > MAX_PROGRAM_BYTES)
    return fault({
      message: `The program is longer than ${MAX_PROGRAM_BYTES / 1024} KiB`,
      action: 'Make it shorter, and give data as its input.',
    })
  // Loaded with the first program: a page that runs none does not carry it.
  const parsers = await import('./program-parse.ts')
  const given = source.startsWith('\ufeff') ? ` ${source.slice(1)}` : source
  const fenced = unfence(given)
  if (fenced.form === 'foreign') return notOurs(fenced)
  if (fenced.form === 'whole') return read(parsers, fenced.text, language)
  const first = await read(parsers, given, language)
  if (first.ok || fenced.form === 'none') return first
  return fenced.form === 'among words' ? read(parsers, fenced.text, language) : several(fenced)
}

async function read(parsers: Parsers, text: string, language: ProgramLanguage | undefined): Promise<ReadProgram> {
  try {
    return await readText(parsers, text, language)
  } catch (error) {
    // A tree that could be built may still be too deep to walk.
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

/** Others get their turn between the steps of what takes long. */
const turn = async (text: string) => {
  if (text.length > LONG) await new Promise((resolve) => setTimeout(resolve, 0))
}

/** Of a statement that was nothing but types a semicolon is left. */
const isErased = (text: string, { start, end }: Node): boolean => text.slice(start, end).trim() === ';'

/** `f<T>(x)` compares in JavaScript and calls in TypeScript; nobody means the comparison. */
const GENERIC_CALL = /[\w$]<[^;(){}=<>]*(?:<[^;(){}=<>]*>[^;(){}=<>]*)*>\s*[(`]/

type ParsedAs = { ok: true; body: Node[]; isTyped: boolean } | Unread

async function parseAs(parsers: Parsers, text: string, language: ProgramLanguage | undefined): Promise<ParsedAs> {
  const plain = language === 'typescript' ? undefined : parsers.parseJavaScript(text)
  const isSure = language === 'javascript' || !GENERIC_CALL.test(text)
  if (plain?.ok && isSure) return { ...plain, isTyped: false }
  // What is too long or too deep is so with types, too.
  if (plain && !plain.ok && (language === 'javascript' || plain.action !== undefined)) return plain
  await turn(text)
  const typed = parsers.parseTypeScript(text)
  if (typed.ok) return { ...typed, isTyped: true }
  if (plain?.ok) return { ...plain, isTyped: false }
  // Whoever came further understood more.
  return plain && plain.at > typed.at && typed.action === undefined ? plain : typed
}

function unreadable(text: string, { message, action, place }: Unread): ReadProgram {
  if (action !== undefined) return fault({ message, action, place })
  const line = text.split(/\r\n|[\n\r\u2028\u2029]/)[place.line - 1]?.trim() ?? ''
  const shown = line.length > 120 ? `${line.slice(0, 119)}…` : line
  return fault({ message, action: shown === '' ? 'Correct the program.' : `Correct it there: ${shown}`, place })
}

const refusal = (text: string, { message, action, at }: Refused): ReadProgram =>
  fault({ message, action, place: placeOf(text, at) })

const notOurs = ({ language, line }: Fenced & { form: 'foreign' }): ReadProgram =>
  fault({
    message: `The program is marked as ${language}`,
    action: 'Write it in JavaScript or TypeScript.',
    place: { line, column: 1 },
  })

const several = ({ line }: Fenced & { form: 'several' }): ReadProgram =>
  fault({
    message: 'There are several blocks of code',
    action: 'Give one program, without words around it.',
    place: { line, column: 1 },
  })

interface Fault {
  message: string
  action: string
  place?: Place | undefined
}

function fault({ message, action, place = { line: 1, column: 1 } }: Fault): ReadProgram {
  const where = `line ${place.line}, column ${place.column}`
  return { ok: false, error: { code: 'syntax-error', message: `${message} (${where})`, action, ...place } }
}
