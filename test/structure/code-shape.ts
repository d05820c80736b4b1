/** Reads the shape of source files from their syntax trees: functions, exports, literal spreads and identifiers. */
import { parseSync } from 'vite'
import type { SourceFile } from './import-graph.ts'

interface Node {
  type: string
  start: number
  end: number
  [key: string]: unknown
}

export interface FileShape {
  path: string
  lines: number
  commentLines: number
  /** Length of each function in lines. */
  functions: number[]
  /** Names that the file declares and exports. */
  exports: string[]
  /** Lines of object and array literals that are spread into a literal. */
  literalSpreads: number[]
  /** Names that the file declares, with their lines. */
  declared: Array<{ name: string; line: number }>
}

const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'])
const DECLARED_BY_ID = new Set([
  'VariableDeclarator',
  'FunctionDeclaration',
  'ClassDeclaration',
  'TSInterfaceDeclaration',
  'TSTypeAliasDeclaration',
  'TSEnumDeclaration',
])
const MEMBERS = new Set([
  'TSPropertySignature',
  'TSMethodSignature',
  'PropertyDefinition',
  'MethodDefinition',
  'AccessorProperty',
])

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'

export function shapeOf({ path, text }: Pick<SourceFile, 'path' | 'text'>): FileShape {
  const { program, comments, errors } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path} cannot be parsed: ${errors[0]?.message}`)
  const lineStarts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)]
  const lineAt = (offset: number) => {
    let low = 0
    let high = lineStarts.length
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if ((lineStarts[middle] as number) <= offset) low = middle
      else high = middle
    }
    return low + 1
  }
  const shape: FileShape = {
    path,
    lines: text.split('\n').length,
    commentLines: comments.reduce((sum, { start, end }) => sum + lineAt(end) - lineAt(start) + 1, 0),
    functions: [],
    exports: [],
    literalSpreads: [],
    declared: [],
  }
  const declare = (pattern: unknown) => {
    for (const { name, start } of namesIn(pattern)) shape.declared.push({ name, line: lineAt(start) })
  }
  const visit = (node: Node) => {
    if (FUNCTIONS.has(node.type) && isNode(node.body)) {
      shape.functions.push(lineAt(node.end) - lineAt(node.start) + 1)
      for (const parameter of (node.params as unknown[]) ?? []) declare(parameter)
    }
    if (DECLARED_BY_ID.has(node.type)) declare(node.id)
    if (MEMBERS.has(node.type)) declare(node.key)
    if (/^(SpreadElement|JSXSpreadAttribute)$/.test(node.type) && isNode(node.argument) && isLiteral(node.argument))
      shape.literalSpreads.push(lineAt(node.start))
    if (node.type === 'ExportNamedDeclaration' && isNode(node.declaration))
      shape.exports.push(...exportedBy(node.declaration))
    for (const value of Object.values(node)) {
      if (Array.isArray(value)) for (const item of value) isNode(item) && visit(item)
      else if (isNode(value)) visit(value)
    }
  }
  visit(program as unknown as Node)
  return shape
}

const isLiteral = ({ type }: Node) => type === 'ObjectExpression' || type === 'ArrayExpression'

function exportedBy(declaration: Node): string[] {
  if (declaration.type !== 'VariableDeclaration') return namesIn(declaration.id).map(({ name }) => name)
  return (declaration.declarations as Node[]).flatMap(({ id }) => namesIn(id).map(({ name }) => name))
}

/** The names that a pattern binds. */
function namesIn(pattern: unknown): Array<{ name: string; start: number }> {
  if (!isNode(pattern)) return []
  switch (pattern.type) {
    case 'Identifier':
    case 'PrivateIdentifier':
      return [{ name: String(pattern.name), start: pattern.start }]
    case 'ObjectPattern':
      return (pattern.properties as Node[]).flatMap(({ type, value, argument }) =>
        namesIn(type === 'RestElement' ? argument : value),
      )
    case 'ArrayPattern':
      return (pattern.elements as unknown[]).flatMap(namesIn)
    case 'AssignmentPattern':
      return namesIn(pattern.left)
    case 'RestElement':
      return namesIn(pattern.argument)
    case 'TSParameterProperty':
      return namesIn(pattern.parameter)
    default:
      return []
  }
}

/** Exported names that more than one file declares. */
export function duplicateExports(shapes: readonly FileShape[]): Map<string, string[]> {
  const files = new Map<string, string[]>()
  for (const { path, exports } of shapes)
    for (const name of new Set(exports)) files.set(name, [...(files.get(name) ?? []), path])
  return new Map([...files].filter(([, paths]) => paths.length > 1))
}

/** The words of a name: `keptResult` and `KEPT_RESULT` have "kept" and "result". */
export const wordsOf = (name: string): string[] =>
  name
    .split(/_|-|(?<=[a-z0-9])(?=[A-Z])|(?=[A-Z][a-z])/)
    .filter(Boolean)
    .map((word) => word.toLowerCase())

/** Participles and metaphors that say what happened to a thing, not what it is. VOICE.md has the rule. */
export const DENIED_WORDS = new Set(
  `given kept told said held heard meant brought carried laid anew mend door doors errand foresee foresight foreseen
  departures departure patience calm unsure surroundings teller leaf whoever`.split(/\s+/),
)

/** Declared names with a denied word. */
export function deniedNames({ path, declared }: FileShape, allowed: ReadonlySet<string>): string[] {
  return declared
    .filter(({ name }) => !allowed.has(name) && wordsOf(name).some((word) => DENIED_WORDS.has(word)))
    .map(({ name, line }) => `${path}:${line} ${name}`)
}

/** Source files for each folder. */
export function filesByFolder(paths: readonly string[]): Map<string, string[]> {
  const folders = new Map<string, string[]>()
  for (const path of paths) {
    const folder = path.slice(0, path.lastIndexOf('/'))
    folders.set(folder, [...(folders.get(folder) ?? []), path])
  }
  return folders
}

/** Prefixes that more than `most` files of a folder share. */
export function sharedPrefixes(files: readonly string[], most: number): string[] {
  const counts = new Map<string, number>()
  for (const path of files) {
    const [first, ...rest] = path
      .slice(path.lastIndexOf('/') + 1)
      .replace(/\.tsx?$/, '')
      .split('-')
    if (rest.length > 0) counts.set(first as string, (counts.get(first as string) ?? 0) + 1)
  }
  return [...counts].filter(([, count]) => count > most).map(([prefix]) => prefix)
}
