/**
 * `npm run examples:write`: collects every `@example` of the public API into `packages/loadout/test/api.examples.ts`, where the
 * compiler checks them. A test fails if the file and the comments differ.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync } from 'vite'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const LIBRARY = 'packages/loadout/src'
export const SOURCES = [
  'host/create-host.ts',
  'host/user-scope.ts',
  'host/options.ts',
  'thread.ts',
  'toolkits/toolkit-input.ts',
]
export const TARGET = 'packages/loadout/test/api.examples.ts'

/** The values that examples use without defining them. */
const HEADER = `/** Written by \`npm run examples:write\`: the examples of the public API, checked by the compiler and never run. */
import { writeFile } from 'node:fs/promises'
import { nodeAgent } from '../src/agents/index.ts'
import { quickjs } from '../src/code-mode/quickjs.ts'
import {
  type CustomToolkit,
  createHost,
  type DefinedTool,
  defineTool,
  defineWorkflow,
  type ExecutionContext,
  type Host,
  masterKeyRing,
  type RemoteToolkit,
  rule,
  type StdioToolkit,
  type UserScope,
  type UserThread,
  type WorkflowInput,
} from '../src/index.ts'
import { ambientContext, fileJournal, nodeDrivers, wordVectors } from '../src/node.ts'
import type { Input } from '../src/services.ts'
import { pglite } from '../src/storage/pglite.ts'

declare const host: Host
declare const ann: UserScope
declare const thread: UserThread
declare const context: ExecutionContext
declare const definition: WorkflowInput
declare const refund: DefinedTool
declare const question: Input
declare const models: Parameters<typeof nodeAgent>[0]['models']
declare const mcpServers: Record<string, object>
declare const masterKey: string
declare const id: string
declare const runId: string
declare const callId: string
declare const stepId: string
declare const handle: string
declare const state: string
declare const code: string
declare const accessToken: string
declare const uriTemplate: string
`

export function examplesIn(text: string): string[] {
  return [...text.matchAll(/\/\*\*([\s\S]*?)\*\//g)].flatMap(([, comment = '']) => {
    const body = comment.replace(/^[ \t]*\* ?/gm, '')
    return [...body.matchAll(/@example\s+([\s\S]*?)(?=\n\s*@|$)/g)].map(([, code = '']) => code.trim())
  })
}

/** An option is shown as a property; everything else is a statement. */
const isProperty = (code: string) => /^[a-z]\w*: /i.test(code)

/** Returns what the example declares, so that no declaration is unused. */
function declaredBy(code: string): string[] {
  const { program, errors } = parseSync('example.mts', code)
  if (errors.length > 0) throw new Error(`An example cannot be parsed: ${code}`)
  const names: string[] = []
  const bind = (pattern: { type: string; [key: string]: unknown } | null): void => {
    if (pattern === null) return
    if (pattern.type === 'Identifier') names.push(String(pattern.name))
    else if (pattern.type === 'ObjectPattern')
      for (const property of pattern.properties as Array<{ value: never }>) bind(property.value)
    else if (pattern.type === 'ArrayPattern') for (const element of pattern.elements as never[]) bind(element)
  }
  for (const statement of program.body)
    if (statement.type === 'VariableDeclaration') for (const { id } of statement.declarations) bind(id as never)
  return names
}

export function renderExamples(read: (path: string) => string): string {
  const functions = SOURCES.flatMap((path) => examplesIn(read(path)).map((code) => ({ path, code }))).map(
    ({ path, code }, index) => {
      const statement = isProperty(code) ? `return createHost({ ${code} })` : code
      const names = isProperty(code) ? [] : declaredBy(code)
      const end = names.length > 0 ? `\n  return { ${names.join(', ')} }` : ''
      return `\n/** ${path} */\nexport async function example${index + 1}() {\n  ${statement.replaceAll('\n', '\n  ')}${end}\n}\n`
    },
  )
  return `${HEADER}${functions.join('')}`
}

if (import.meta.main) {
  writeFileSync(
    join(ROOT, TARGET),
    renderExamples((path) => readFileSync(join(ROOT, LIBRARY, path), 'utf8')),
  )
}
