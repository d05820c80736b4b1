/**
 * Parses config file text: JSON, with or without comments and trailing commas. Bounds size and depth before it builds
 * values, rejects prototype keys, and rejects duplicate keys.
 */
import { createScanner, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import { HostError } from '../../errors.ts'
import { assertPlainJson, invalidFields, type Json, type JsonObject } from '../json.ts'

export const MAX_CONFIG_TEXT_LENGTH = 1024 * 1024
const MAX_DEPTH = 64
const OPTIONS = { allowTrailingComma: true, disallowComments: false, allowEmptyContent: false }

/** Parses the text. Errors name the line and column. */
export function readConfigText(text: string): Json {
  if (text.length > MAX_CONFIG_TEXT_LENGTH)
    throw new HostError('body-too-large', {
      detail: `The text is longer than ${MAX_CONFIG_TEXT_LENGTH} characters.`,
      action: 'Send only the part that describes servers.',
    })
  const plain = stripBom(text)
  const tooDeep = findTooDeep(plain)
  if (tooDeep !== undefined)
    throw invalidFields([
      { path: '(body)', message: `is nested deeper than ${MAX_DEPTH}, at ${formatPosition(plain, tooDeep)}` },
    ])
  const errors: ParseError[] = []
  const root = parseTree(plain, errors, OPTIONS)
  const [first] = errors
  if (first || !root) throw invalidJson(plain, first)
  const value = plainValue(root, { text: plain, path: [] })
  assertPlainJson(value)
  return value
}

/** Line of a path, counted from 1; for a missing key, the line of its parent. */
export function lineAtPath(text: string, path: readonly (string | number)[]): number | undefined {
  const plain = stripBom(text)
  if (plain.length > MAX_CONFIG_TEXT_LENGTH || findTooDeep(plain) !== undefined) return undefined
  const root = parseTree(plain, [], OPTIONS)
  if (!root) return undefined
  let node = root
  let offset = root.offset
  for (const step of path) {
    const next = childOf(node, step)
    if (!next) break
    offset = next.offset
    node = next.value
  }
  return lineAt(plain, offset)
}

function childOf({ type, children = [] }: Node, step: string | number): { offset: number; value: Node } | undefined {
  if (type === 'array') {
    const value = children[Number(step)]
    return value && { offset: value.offset, value }
  }
  const property = children.find(({ children: [key] = [] }) => type === 'object' && key?.value === String(step))
  const value = property?.children?.[1]
  return property && value && { offset: property.offset, value }
}

// Windows editors write a byte order mark.
const stripBom = (text: string) => (text.startsWith('\uFEFF') ? text.slice(1) : text)

/**
 * Offset where the nesting exceeds the limit. Scans tokens without recursion, so deep input cannot overflow the stack.
 */
function findTooDeep(text: string): number | undefined {
  const scanner = createScanner(text, true)
  for (let depth = 0; ; ) {
    scanner.scan()
    const offset = scanner.getTokenOffset()
    if (offset >= text.length) return undefined
    const character = text[offset]
    if (character === '{' || character === '[') depth++
    if (character === '}' || character === ']') depth--
    if (depth > MAX_DEPTH) return offset
  }
}

interface TextLocation {
  text: string
  path: string[]
}

function plainValue(node: Node, location: TextLocation): Json {
  if (node.type === 'array')
    return (node.children ?? []).map((item, index) =>
      plainValue(item, { ...location, path: [...location.path, String(index)] }),
    )
  if (node.type !== 'object') return node.value
  const object: JsonObject = {}
  for (const { children: [key, value] = [] } of node.children ?? []) {
    if (!key || !value) continue
    const name = String(key.value)
    const path = [...location.path, name]
    const problem = Object.hasOwn(object, name) ? 'is there twice' : forbiddenKey(name)
    if (problem !== undefined)
      throw invalidFields([
        { path: path.join('.'), message: `${problem} (${formatPosition(location.text, key.offset)}); rename it` },
      ])
    object[name] = plainValue(value, { ...location, path })
  }
  return object
}

const forbiddenKey = (name: string) => (name === '__proto__' ? 'is a key that is never accepted' : undefined)

const ERROR_LABELS: Record<string, string> = {
  InvalidSymbol: 'this is no JSON value',
  InvalidNumberFormat: 'this is no number',
  PropertyNameExpected: 'the name of a property is missing; it stands in double quotes',
  ValueExpected: 'a value is missing',
  ColonExpected: 'a colon is missing',
  CommaExpected: 'a comma is missing',
  CloseBraceExpected: 'a closing "}" is missing',
  CloseBracketExpected: 'a closing "]" is missing',
  EndOfFileExpected: 'something follows the end',
  UnexpectedEndOfComment: 'a comment is not closed',
  UnexpectedEndOfString: 'a string is not closed',
  InvalidEscapeCharacter: 'a "\\" is followed by what it cannot escape',
}

function invalidJson(text: string, error: ParseError | undefined): HostError {
  const problem = error
    ? (ERROR_LABELS[printParseErrorCode(error.error)] ?? 'this cannot be read')
    : 'there is nothing in it'
  return new HostError('invalid-json', {
    detail: `The text is not valid JSON: ${problem}, at ${formatPosition(text, error?.offset ?? 0)}.`,
    action: 'Correct the text at that place. Comments and trailing commas may stay.',
  })
}

function lineAt(text: string, offset: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line++
  return line
}

function formatPosition(text: string, offset: number): string {
  const column = offset - (text.lastIndexOf('\n', offset - 1) + 1) + 1
  return `line ${lineAt(text, offset)}, column ${offset === 0 ? 1 : column}`
}
