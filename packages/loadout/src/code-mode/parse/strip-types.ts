/**
 * Replaces types with spaces, so lines and columns stay. Syntax that is more than a type (enum, namespace, decorator)
 * is rejected. A semicolon or parenthesis replaces a type that separated two lines of one statement.
 */
import { childrenOf, isFunction, type SyntaxNode } from './syntax.ts'

export interface Refused {
  message: string
  action: string
  at: number
}

export type Erased = { ok: true; text: string } | { ok: false; refused: Refused }

export function eraseTypes(text: string, body: readonly SyntaxNode[]): Erased {
  const eraser = new Eraser(text)
  for (const statement of body) eraser.visit(statement)
  return eraser.refused ? { ok: false, refused: eraser.refused } : { ok: true, text: eraser.result() }
}

/** Syntax with runtime behavior, and what to write instead. */
const REFUSED: Readonly<Record<string, readonly [what: string, instead: string]>> = {
  TSEnumDeclaration: ['An enum', 'It is code, not a type: write a plain object, or a union of strings as the type.'],
  TSModuleDeclaration: ['A namespace', 'It is code, not a type: write a plain object with functions.'],
  TSParameterProperty: ['A parameter that declares a property', 'Assign it in the constructor: this.x = x.'],
  TSTypeAssertion: ['A type in angle brackets before a value', 'Write "value as Type", or leave the type away.'],
  TSImportEqualsDeclaration: ['"import x = …"', 'A program imports nothing: tools are there by name.'],
  TSExportAssignment: ['"export = …"', 'Return the value.'],
  Decorator: ['A decorator', 'Call the function yourself.'],
}

/** Statements that contain only types. */
const STATEMENTS = [
  'TSInterfaceDeclaration',
  'TSTypeAliasDeclaration',
  'TSDeclareFunction',
  'TSNamespaceExportDeclaration',
]
const PARTS = ['TSTypeAnnotation', 'TSTypeParameterDeclaration', 'TSTypeParameterInstantiation']
const MODIFIERS = /\b(public|private|protected|readonly|override|abstract|declare)\b/y
const NAME = /(?:[\p{ID_Continue}$#]|\\u\{?[0-9a-f]+\}?)+/iuy
/** Whitespace and comments between tokens. */
const GAP = /(?:\s|\/\/[^\n\r\u2028\u2029]*|\/\*[\s\S]*?\*\/)*/y
const NEWLINE = /[\n\r\u2028\u2029]/

class Eraser {
  refused: Refused | undefined
  readonly #text: string
  /** Replacement by position; a space if missing. */
  readonly #puts = new Map<number, string>()
  readonly #blank: Uint8Array

  constructor(text: string) {
    this.#text = text
    this.#blank = new Uint8Array(text.length)
  }

  result(): string {
    let result = ''
    let copiedTo = 0
    for (let i = 0; i < this.#text.length; i++) {
      if (this.#blank[i] !== 1) continue
      const put = this.#puts.get(i) ?? (NEWLINE.test(this.#text[i] as string) ? this.#text[i] : ' ')
      result += this.#text.slice(copiedTo, i) + put
      copiedTo = i + 1
    }
    return result + this.#text.slice(copiedTo)
  }

  visit(node: SyntaxNode): void {
    if (this.refused) return
    const refusal = node.declare === true ? undefined : own(REFUSED, node.type)
    if (refusal) {
      const [what, action] = refusal
      this.refused = { message: `${what} is not taken`, action, at: node.start }
    } else if (isOnlyTypes(node)) this.#statement(node)
    else if (PARTS.includes(node.type)) this.#erase(node.start, node.end)
    else this.#code(node)
  }

  #code(node: SyntaxNode): void {
    if (node.type === 'TSAsExpression' || node.type === 'TSSatisfiesExpression') this.#after(node)
    else if (node.type === 'TSNonNullExpression') this.#erase(node.end - 1, node.end)
    else if (node.type === 'Identifier') this.#mark(node.start, node.optional === true ? '?' : undefined)
    else if (node.type === 'VariableDeclarator' && node.definite === true)
      this.#mark((node.id as SyntaxNode).start, '!')
    else if (node.type === 'ClassDeclaration' || node.type === 'ClassExpression') this.#class(node)
    else if (node.type === 'PropertyDefinition' || node.type === 'MethodDefinition') this.#member(node)
    else if (isFunction(node)) this.#function(node)
    for (const child of childrenOf(node)) {
      // The type of `value as Type` is erased with its keyword.
      if (node.type.startsWith('TS') && child === node.typeAnnotation) continue
      this.visit(child)
    }
  }

  #statement(node: SyntaxNode): void {
    this.#erase(node.start, node.end)
    this.#puts.set(node.start, ';')
  }

  /** Erases `as Type` and `satisfies Type` after a value, which may be in parentheses. */
  #after(node: SyntaxNode): void {
    let at = (node.expression as SyntaxNode).end
    for (at = this.#skip(at); this.#text[at] === ')'; ) at = this.#skip(at + 1)
    this.#erase(at, node.end)
    const next = this.#skip(node.end)
    const opens = '([`'.includes(this.#text[next] ?? ' ') && NEWLINE.test(this.#text.slice(node.end, next))
    if (opens) this.#puts.set(node.end - 1, ';')
  }

  /** Erases the `?` or `!` after a name. */
  #mark(start: number, mark: string | undefined): void {
    if (mark === undefined) return
    NAME.lastIndex = start
    const name = NAME.exec(this.#text)
    const at = this.#skip(start + (name?.[0].length ?? 0))
    if (this.#text[at] === mark) this.#erase(at, at + 1)
  }

  #class(node: SyntaxNode): void {
    const list = node.implements as SyntaxNode[] | undefined
    if (node.abstract === true) this.#modifiers(node.start)
    if (!list?.[0]) return
    const head = this.#text.lastIndexOf('implements', list[0].start)
    this.#erase(head, (list.at(-1) as SyntaxNode).end)
  }

  #member(node: SyntaxNode): void {
    const value = node.value as SyntaxNode | null | undefined
    if (node.declare === true || node.abstract === true || value?.type === 'TSDeclareMethod') {
      this.#statement(node)
      return
    }
    const first = this.#modifiers(node.start)
    const key = node.key as SyntaxNode
    const from = node.computed === true ? this.#skip(this.#skip(key.end) + 1) : this.#skip(key.end)
    if (node.optional === true || node.definite === true) this.#erase(from, from + 1)
    if (first !== undefined && '[*'.includes(this.#text[this.#skip(first.end)] ?? ' ')) this.#puts.set(first.start, ';')
  }

  /** Erases modifiers of a member or class; returns their range. */
  #modifiers(start: number): { start: number; end: number } | undefined {
    let found: { start: number; end: number } | undefined
    for (let at = start; ; ) {
      MODIFIERS.lastIndex = at
      const word = MODIFIERS.exec(this.#text)?.[0]
      const end = at + (word?.length ?? 0)
      const next = this.#text[this.#skip(end)] ?? ''
      // A member may be named `public`.
      const isName = '(=;:?!}'.includes(next)
      if (word !== undefined && !isName) {
        this.#erase(at, end)
        found = { start: found?.start ?? at, end }
        at = this.#skip(end)
      } else if (this.#text.startsWith('static', at) && !'(=;:?!}'.includes(this.#text[this.#skip(at + 6)] ?? '')) {
        if (!/\s/.test(this.#text[at + 6] ?? '')) return found
        at = this.#skip(at + 6)
      } else return found
    }
  }

  #function(node: SyntaxNode): void {
    const [first, second] = (node.params as SyntaxNode[] | undefined) ?? []
    if (first?.type === 'Identifier' && first.name === 'this') {
      const comma = this.#skip(first.end)
      this.#erase(first.start, second ? second.start : this.#text[comma] === ',' ? comma + 1 : first.end)
    }
    if (node.type !== 'ArrowFunctionExpression') return
    const types = node.typeParameters as SyntaxNode | undefined
    const result = node.returnType as SyntaxNode | undefined
    // The parentheses of an arrow function must stay on its line.
    if (types && NEWLINE.test(this.#text.slice(types.start, types.end))) {
      const bracket = this.#text.indexOf('(', types.end)
      this.#erase(bracket, bracket + 1)
      this.#erase(types.start, types.end)
      this.#puts.set(types.start, '(')
    }
    if (result && NEWLINE.test(this.#text.slice(result.start, result.end))) {
      const bracket = this.#text.lastIndexOf(')', result.start)
      this.#erase(bracket, result.end)
      this.#puts.set(result.end - 1, ')')
    }
  }

  #erase(start: number, end: number): void {
    this.#blank.fill(1, start, end)
  }

  #skip(at: number): number {
    GAP.lastIndex = at
    return at + (GAP.exec(this.#text)?.[0].length ?? 0)
  }
}

function isOnlyTypes(node: SyntaxNode): boolean {
  if (STATEMENTS.includes(node.type) || node.type === 'TSIndexSignature') return true
  if (node.type === 'ImportDeclaration') return importsOnlyTypes(node)
  if (node.exportKind === 'type' && node.type === 'ExportNamedDeclaration') return true
  const inside = node.declaration as SyntaxNode | null | undefined
  if (node.type.startsWith('Export') && inside && isOnlyTypes(inside)) return true
  return node.declare === true && node.type !== 'PropertyDefinition'
}

function importsOnlyTypes({ importKind, specifiers }: SyntaxNode): boolean {
  const each = specifiers as SyntaxNode[]
  return importKind === 'type' || (each.length > 0 && each.every((one) => one.importKind === 'type'))
}

const own = <T>(table: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined
