/**
 * A tool is called in one place. Whatever names the call of a connection, in whichever way it is written (a property, a
 * name in brackets or braces, a method by its text), is in this table or it is a second way to a tool.
 */
import { describe, expect, it } from 'vitest'
import { ROOT, type SourceFile, sourcesIn } from './import-graph.ts'

/** Who may name it, and why. */
const NAMES_IT: Record<string, string> = {
  'apps/web/src/features/tools/test/as-curl.ts': 'writes the address of the route, to be copied',
  'packages/loadout/src/calls/execute.ts': 'the one that calls',
  'packages/loadout/src/connections/connection.ts': 'the contract',
  'packages/loadout/src/connections/session/session.ts': 'what a connection is made of',
  'packages/loadout/src/connections/http/fast-call/prepare.ts': 'what a connection is made of',
  'packages/loadout/src/connections/session/traced-connection.ts': 'what a connection is made of',
  'packages/loadout/src/connections/stdio/stdio.ts': 'what a connection is made of',
  'packages/loadout/src/telemetry/conventions.ts': 'the name of a span',
  'packages/loadout/src/calls/stages/with-telemetry.ts': 'the name of a span',
}
/** Who may have a connection for a while. All but the first ask for lists, texts and prompts. */
const USES_A_CONNECTION = [
  'packages/loadout/src/calls/execute.ts',
  'packages/loadout/src/catalog/catalog.ts',
  'packages/loadout/src/catalog/resources.ts',
  'packages/loadout/src/loadout/setup/warm.ts',
]
const RUNS_A_FUNCTION = [
  'packages/loadout/src/calls/custom-function.ts',
  'packages/loadout/src/calls/execute.ts',
  'packages/loadout/src/calls/pipeline.ts',
]

const CALL = [
  /callTool/,
  /tools\/call/,
  /\bCALL_METHOD\b/,
  // Put together of pieces.
  /['"`]tools\/?['"`]\s*\+|['"`]tools\/['"`]|tools\/\$\{/,
  /['"`]call['"`]\s*\+|call\$\{|['"`]Tool['"`]/,
]
const USE = [/(?:connector|connections)\b[^;{}]{0,40}\.use\b/, /Pick<Connector,[^>]*'use'/]
const RUN = [/\b(runCustom|executeCall)\b/]

const sources = ['packages', 'apps'].flatMap((folder) =>
  sourcesIn(`${ROOT}/${folder}`)
    .filter(({ path }) => !/(^|\/)testing\/|^(web|loadout|server)\/test\//.test(path))
    .map((file) => ({ ...file, path: `${folder}/${file.path}` })),
)

/** Without its comments; texts stay, because a text can name a method. */
const codeOf = (text: string) =>
  text.replace(
    /("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|\/\/[^\n]*|\/\*[\s\S]*?\*\//g,
    (_, string) => string ?? ' ',
  )

const filesWith = (files: readonly SourceFile[], patterns: readonly RegExp[]) =>
  files
    .filter(({ text }) => patterns.some((pattern) => pattern.test(codeOf(text))))
    .map(({ path }) => path)
    .sort()

describe('tool call access', () => {
  it('is limited to the files that may name the call of a connection', () => {
    expect(filesWith(sources, CALL)).toEqual(Object.keys(NAMES_IT).sort())
  })

  it('is limited to the files that may use a connection or run an app function', () => {
    expect(filesWith(sources, USE)).toEqual(USES_A_CONNECTION)
    expect(filesWith(sources, RUN)).toEqual(RUNS_A_FUNCTION)
  })

  it.each([
    "connection['callTool'](call, options)",
    'const { callTool } = connection',
    'const { callTool: go } = await lease()',
    'connection.callTool.call(connection, call)',
    'connection\n  .callTool(call)',
    'Reflect.get(connection, "callTool")(call)',
    "client.request({ method: 'tools/call', params })",
    "client.request({ method: 'tools/' + verb })",
    'client.request({ method: `tools/${verb}` })',
    "connection['call' + 'Tool'](call)",
    'connection[`call${rest}`](call)',
    'send(CALL_METHOD, params)',
    "const url = 'http://x' // fine\nconnection.callTool(call)",
  ])('and this is found: %s', (text) => {
    expect(filesWith([{ path: 'x.ts', text, imports: [] }], CALL)).toEqual(['x.ts'])
  })

  it.each([
    'this.#parts.connector.use(stored, userId, { work })',
    'connector\n  .use(stored, userId, { work })',
    'host.connections.use(stored, userId, { work })',
    'const use = parts.connector.use\nuse(stored)',
    "connector: Pick<Connector, 'status' | 'use'>",
  ])('and this: %s', (text) => {
    expect(filesWith([{ path: 'x.ts', text, imports: [] }], USE)).toEqual(['x.ts'])
  })

  it('is not detected in a comment', () => {
    const text = "// callTool\n/* tools/call */\nconst url = 'https://x' /** callTool */"
    expect(filesWith([{ path: 'x.ts', text, imports: [] }], CALL)).toEqual([])
  })
})
