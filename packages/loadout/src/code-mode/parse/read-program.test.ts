import { readdirSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseTypeScript } from './parse.ts'
import { MAX_PROGRAM_BYTES, type ProgramLanguage, readProgram } from './read-program.ts'
import { eraseTypes } from './strip-types.ts'

async function bodyOf(source: string, language?: ProgramLanguage): Promise<string> {
  const read = await readProgram({ source, language })
  if (!read.ok) throw new Error(`${read.error.message} ${read.error.action}`)
  return read.source
}

/** What it is worth, run as an executor runs it. */
async function resultOf(source: string, input?: unknown): Promise<unknown> {
  const AsyncFunction = (async () => {}).constructor as FunctionConstructor
  const run = new AsyncFunction('input', 'github', 'console', `${await bodyOf(source)}\n`)
  const github = {
    list: async ({ state }: { state: string }) => [
      { state, id: 1 },
      { state, id: 2 },
    ],
  }
  return run(input, github, { log: () => undefined })
}

async function faultOf(source: string, language?: ProgramLanguage) {
  const read = await readProgram({ source, language })
  if (read.ok) throw new Error(`It was read as: ${read.source}`)
  return read.error
}

/** Imports are refused in programs, and lists of exports are left away as a whole; Node takes them apart. */
const MODULE_LINES = /^(?:import|export) (?:[^;()=]*? from '[^']*'|\{[^}]*\})$/gm
const WORK = "const all = await github.list({ state: 'open' })"

describe('valid programs that stay unchanged', () => {
  it.each([
    `${WORK}\nreturn all.length`,
    `if (input) { return 1 }\n${WORK}\nall.length`,
    `let sum = 0\nfor (const one of [1, 2]) sum += one\nreturn sum // done`,
    'async function main() { return 1 }\nreturn main()',
    'x = 1',
    'let i = 0\ni++',
    "console.log('done')",
    '/* As in:\n```js\n1\n```\n*/\nreturn 1',
    "'use strict'\nreturn 1",
    'var yield = 1; return yield',
    'return a < b > (c)',
    'return 010',
  ])('%j', async (source) => {
    expect(await bodyOf(source)).toBe(source)
  })
})

describe('the result of each program form', () => {
  it.each<[form: string, source: string, value: unknown]>([
    ['a single expression', "(await github.list({ state: 'open' })).map((one) => one.id)", [1, 2]],
    ['a last expression', `${WORK}\nall.length`, 2],
    ['an object in brackets', `${WORK}\n;({ count: all.length })`, { count: 2 }],
    ['an arrow', `async () => {\n  ${WORK}\n  return all.length\n}`, 2],
    ['an arrow in brackets, with a semicolon', `(async () => {\n  ${WORK}\n  return all.length\n});`, 2],
    ['an arrow that takes the input', 'async (input) => input.n + 1', 4],
    ['an arrow that takes it apart', '({ n }) => n', 3],
    ['a function without a name', '(async function () { return 7 })', 7],
    ['helpers before an arrow', 'const add = (a, b) => a + b\nasync () => add(1, 2)', 3],
    ['a called arrow', `(async () => {\n  ${WORK}\n  return all.length\n})()`, 2],
    ['a called arrow that is thrown away', 'void (async () => 5)()', 5],
    ['main, and its call', `async function main() {\n  ${WORK}\n  return all.length\n}\nmain()`, 2],
    ['main, and its call with what to do then', 'async function main() { return 2 }\nmain().then((n) => n + 1)', 3],
    ['main without a call', `async function main() {\n  ${WORK}\n  return all.length\n}`, 2],
    ['a constant main without a call', 'const main = async ({ n }) => n * 2', 6],
    [
      'main among other functions',
      'function help() { return 4 }\nconst LIMIT = 10\nfunction main() { return help() + LIMIT }',
      14,
    ],
    ['the only function', 'async function countIssues() { return 9 }', 9],
    ['export default function', `export default async function () {\n  ${WORK}\n  return all.length\n}`, 2],
    ['export default function with a name', 'export default async function main(input) { return input.n }', 3],
    ['export default arrow', 'export default async () => {\n  return help()\n}\nfunction help() { return 8 }', 8],
    ['export default before a constant that it needs', 'export default () => LATER\nconst LATER = 11', 11],
    ['export default of a name', 'const run = async () => 12\nexport default run', 12],
    ['export default of a value', 'const found = await github.list({ state: 1 })\nexport default found.length', 2],
    ['export { … as default }', 'const go = () => 13\nexport { go as default }', 13],
    ['exports by name', 'export const N = 1\nexport async function run() { return N + 13 }', 14],
    ['a fenced block', '```js\nreturn 1\n```', 1],
    [
      'a fenced block of TypeScript, with words in its head',
      '\n```ts title="x"\nconst n: number = 2\nreturn n\n```\n\n',
      2,
    ],
    ['a fenced block of tildes', '~~~\nreturn 3\n~~~', 3],
    ['a fenced block that never ends', '```javascript\nreturn 4', 4],
    ['a fenced line', '```js return 5```', 5],
    ['a fenced block with fences in a comment', '```js\n/*\n```\nx\n```\n*/\nreturn 11\n```', 11],
    ['a block among words', 'Here is the program:\n\n```ts\nreturn 6 as number\n```\n\nIt counts.', 6],
    ['a fenced arrow with types', '```typescript\nasync (): Promise<number> => {\n  return 7\n}\n```', 7],
    ['a byte order mark', '\ufeffreturn 8', 8],
    ['what ends with a comment', '[1].length // of one', 1],
    ['Windows line ends', 'const a = 1\r\nasync () => {\r\n  return a\r\n}\r\n', 1],
  ])('%s', async (_, source, value) => {
    expect(await resultOf(source, { n: 3 })).toEqual(value)
  })

  it('is undefined for declarations without a main function', async () => {
    expect(await resultOf('function a() { return 1 }\nfunction b() { return 2 }')).toBeUndefined()
    expect(await resultOf('function* main() { yield 1 }')).toBeUndefined()
  })
})

describe('TypeScript', () => {
  it.each<[source: string, value: unknown]>([
    ['interface Issue { id: number }\nconst all: Issue[] = await github.list({ state: "open" })\nreturn all.length', 2],
    ['type A = string\nconst f = <T,>(x: T): T => x\nreturn f<number>(3)', 3],
    ['const ids = new Map<string, number>([["a", 1]])\nreturn ids.get("a")!', 1],
    ['return (input as any)\n;[1].length', 'input'],
    ['const x = 1 as number\n;(() => 5)()\nreturn x', 1],
    ['const x = 1 as number\n(async () => 5)()', 5],
    ['let n = 0\nconst x = 1 as number\n;[1].at(0)\nn = x as number\n(() => { n += 2 })()\nreturn n', 3],
    ['let n = 4\ntype A = string\n(() => { n += 2 })()\nreturn n', 6],
    ['const f = (a: number): {\n  n: number\n} => ({ n: a })\nreturn f(4).n', 4],
    ['const f = async <\n  T,\n>(a: T) => a\nreturn f(6)', 6],
    [
      'class A<T> extends Array<T> implements Iterable<T> { private static readonly n?: number = 7; declare z: string\n  get(): number { return A.n! } }\nreturn new A<string>().get()',
      7,
    ],
    [
      'abstract class A { abstract f(): void; foo(a: string): void; foo(a: any) { return a } [k: string]: any }\nclass B extends A { override f() {} }\nreturn new B().foo("x")',
      'x',
    ],
    ['function f(this: unknown, a?: number, ...rest: string[]): asserts a is number { return a }\nreturn f(8, "x")', 8],
    ['try { throw 9 } catch (error: unknown) { return error }', 9],
    ['let x!: number\nx = 10\nreturn x satisfies number', 10],
    ['import type { Issue } from "./issue"\nimport { type User } from "./user"\nexport interface X {}\nreturn 11', 11],
    ['declare const github: { list(input: {}): Promise<unknown> }\ndeclare function g(): void\nreturn 12', 12],
    ['const levels = { low: 1 } as const\nreturn levels.low', 1],
    [
      'const public_ = { public: 1, declare: 2 }\nclass C { public = 3; readonly() { return this.public } }\nreturn new C().readonly() + public_.declare',
      5,
    ],
  ])('%j', async (source, value) => {
    expect(await resultOf(source, 'input')).toEqual(value)
  })

  it('keeps its line and column positions', async () => {
    const source = 'type A = {\n  a: string\n}\nconst x: A = { a: "" }; throw new Error(`here`)\nreturn x'
    const lines = (await bodyOf(source)).split('\n')
    expect(lines).toHaveLength(5)
    expect(lines[3]?.indexOf('throw')).toBe(source.split('\n')[3]?.indexOf('throw'))
  })

  it('is not parsed when the language is JavaScript', async () => {
    expect(await faultOf('const a: string = 1', 'javascript')).toMatchObject({ line: 1, column: 8 })
    expect(await bodyOf('return f<T>(1)', 'javascript')).toBe('return f<T>(1)')
    expect(await bodyOf('return f<T>(1)')).toBe('return f   (1)')
  })

  it('is stripped from all source files exactly as Node strips it', () => {
    const folder = new URL('../../', import.meta.url)
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
    const bare = (text: string) => text.replace(/[\s;]+/g, ' ')
    const texts = files.map((name) => readFileSync(new URL(name, folder), 'utf8').replace(MODULE_LINES, ''))
    for (const [index, text] of texts.entries()) {
      const parsed = parseTypeScript(text)
      if (!parsed.ok) throw new Error(`${files[index]}: ${parsed.message} ${JSON.stringify(parsed.position)}`)
      const erased = eraseTypes(text, parsed.body)
      if (!erased.ok) throw new Error(`${files[index]}: ${erased.refused.message}`)
      expect(bare(erased.text), files[index]).toBe(bare(stripTypeScriptTypes(text)))
    }
    expect(texts.length).toBeGreaterThan(300)
  })
})

describe('syntax errors with position and fix', () => {
  it.each<[source: string, error: object]>([
    ['const x = = 1', { line: 1, column: 11, action: 'Correct it there: const x = = 1' }],
    ['return 1\n\nconst a = {\n  b: [1, 2\n}', { line: 5, column: 1 }],
    ['```ts\nreturn 1 +* 2\n```', { line: 2, column: 11 }],
    ['```python\nprint(1)\n```', { line: 1, message: expect.stringContaining('python') }],
    ['```\n1\n```\nor\n```\n2\n```\nas you like', { line: 5, message: expect.stringContaining('several') }],
    ['enum A { B }\nreturn A.B', { line: 1, message: expect.stringContaining('enum') }],
    ['const enum A { B }\nreturn A.B', { message: expect.stringContaining('enum') }],
    ['\nnamespace N { export const x = 1 }', { line: 2, message: expect.stringContaining('namespace') }],
    ['function dec(x: any) {}\n@dec class A {}', { line: 2, message: expect.stringContaining('decorator') }],
    ['class A { constructor(private x: string) {} }', { column: 23, message: expect.stringContaining('property') }],
    ['return <string>input', { message: expect.stringContaining('angle'), action: expect.stringContaining('as Type') }],
    ["import fs from 'fs'\nreturn 1", { line: 1, message: expect.stringContaining('imports nothing') }],
    ["export * from 'fs'", { message: expect.stringContaining('imports nothing') }],
    ["import x = require('x')", { action: expect.stringContaining('imports nothing') }],
    ['export default class {}', { message: expect.stringContaining('class') }],
    ['{ export default 1 }', { line: 1 }],
    ['}); steal(); (async () => {', { line: 1, column: 1 }],
    ['  \n ', { message: expect.stringContaining('empty') }],
    ['```js\n```', { message: expect.stringContaining('empty') }],
    ['def main():\n    return 1', { line: 1, column: 5 }],
    ['Sorry, I cannot do that.', { line: 1 }],
    ['#!/usr/bin/env node\nreturn 1', { line: 1 }],
    ['return <div>1</div>', { line: 1 }],
  ])('%j', async (source, error) => {
    expect(await faultOf(source)).toMatchObject({ code: 'syntax-error', action: expect.any(String), ...error })
  })

  it('reject programs longer than 256 KiB in bytes', async () => {
    const fits = `return '${'a'.repeat(MAX_PROGRAM_BYTES - 9)}'`
    expect(await bodyOf(fits)).toBe(fits)
    expect((await faultOf(`${fits} `)).message).toContain('256 KiB')
    expect((await faultOf(`return '${'€'.repeat(MAX_PROGRAM_BYTES / 3)}'`)).message).toContain('256 KiB')
  })
})

describe('any program text', () => {
  it('is rejected or parses as a function body', async () => {
    const AsyncFunction = (async () => {}).constructor as FunctionConstructor
    const pieces = fc.constantFrom(
      'async ',
      'function main() {',
      '}',
      '(',
      ')',
      '=>',
      'return ',
      'x',
      ': T',
      '<T>',
      ' as any',
      '!',
      '\n',
      ';',
      '`',
      '```',
      '```ts\n',
      '${',
      "'",
      '/',
      '/*',
      '*/',
      '//',
      'export default ',
      'import ',
      'class A {',
      '@d ',
      'enum ',
      'type T = ',
      'declare ',
      'abstract ',
      'await ',
      'void ',
      '{',
      '[',
      ']',
      '=',
      ',',
      '1',
      '\u2028',
      '\ud800',
      '<!--',
    )
    const any = fc.oneof(
      fc.array(pieces, { maxLength: 14 }).map((all) => all.join('')),
      fc.string({ maxLength: 40 }),
    )
    await fc.assert(
      fc.asyncProperty(any, async (source) => {
        const read = await readProgram({ source })
        if (read.ok) new AsyncFunction('input', `${read.source}\n`)
        else expect(read.error.line).toBeLessThanOrEqual(source.split(/\r\n|[\n\r\u2028\u2029]/).length + 1)
      }),
      { numRuns: 3_000 },
    )
  })
})
