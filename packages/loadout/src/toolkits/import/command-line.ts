/**
 * Reads a command line as a config: the command of the server, or a command that adds it to another app (`claude mcp
 * add …`, `code --add-mcp …`). The line is parsed and never run.
 */

import { invalidFields, type JsonObject } from '../../schema/json.ts'
import { readConfigText } from '../../schema/read/read-config-text.ts'
import { isObject } from '../../util/is-object.ts'
import { splitWords } from './split-words.ts'

const ASSIGNMENT = /^([A-Za-z_][A-Za-z0-9_]*)=([\s\S]*)$/
const ADDERS = new Set([
  'claude',
  'codex',
  'gemini',
  'agy',
  'copilot',
  'devin',
  'qwen',
  'droid',
  'amp',
  'kiro-cli',
  'q',
])
const EDITORS = new Set(['code', 'code-insiders', 'cursor', 'codium', 'windsurf'])

/** `{ mcpServers }` with the server of the command line. */
export function readCommandLine(text: string): JsonObject {
  const words = splitWords(text.replace(/^[$>%]\s+/, ''))
  const env: JsonObject = {}
  for (let found = ASSIGNMENT.exec(words[0] ?? ''); found; found = ASSIGNMENT.exec(words[0] ?? '')) {
    env[found[1] as string] = found[2]
    words.shift()
  }
  if (words[0] === 'export' || words[0] === 'set') throw notAServer(words[0])
  const program = baseName(words[0] ?? '')
  const isAdd = ADDERS.has(program) && words[1] === 'mcp' && /^add(-json)?$/.test(words[2] ?? '')
  if (isAdd) return words[2] === 'add-json' ? readAddJson(words.slice(3)) : readAddCommand(words.slice(3), env)
  const editor = words.indexOf('--add-mcp')
  if (EDITORS.has(program) && editor > 0) return readNamedJson(words[editor + 1] ?? '')
  return withServer(undefined, commandOf(words, env))
}

const baseName = (path: string) => (path.split(/[\\/]/).at(-1) ?? '').replace(/\.(exe|cmd)$/i, '')

/** `cmd /c npx …` is how Windows starts scripts. */
function commandOf(words: readonly string[], env: JsonObject): JsonObject {
  const isWrapped = baseName(words[0] ?? '').toLowerCase() === 'cmd' && words[1]?.toLowerCase() === '/c'
  const [command, ...args] = isWrapped ? words.slice(2) : words
  if (command === undefined) throw notAServer('')
  return { command, args, ...(Object.keys(env).length > 0 ? { env } : {}) }
}

/** A server without a name is returned bare, and the caller names it. */
const withServer = (name: string | undefined, server: JsonObject): JsonObject =>
  name === undefined ? server : { mcpServers: { [name]: server } }

const WITH_VALUE: Record<string, 'transport' | 'scope' | 'env' | 'header' | 'url' | 'other'> = {
  '-t': 'transport',
  '--transport': 'transport',
  '--type': 'transport',
  '-s': 'scope',
  '--scope': 'scope',
  '-e': 'env',
  '--env': 'env',
  '-H': 'header',
  '--header': 'header',
  '--url': 'url',
  '--client-id': 'other',
  '--callback-port': 'other',
  '--timeout': 'other',
  '--description': 'other',
  '--bearer-token-env-var': 'other',
}

interface AddOptions {
  env: JsonObject
  headers: JsonObject
  transport?: string
  url?: string
  bearerVariable?: string
  rest: string[]
}

/** `[options] name url` or `[options] name -- command args`; options may come before or after the name. */
function readAddCommand(words: readonly string[], env: JsonObject): JsonObject {
  const divider = words.indexOf('--')
  const ownWords = divider < 0 ? words : words.slice(0, divider)
  const { rest, ...options } = parseOptions(ownWords, env)
  const [name, ...command] = divider < 0 ? rest : [...rest.slice(0, 1), ...words.slice(divider + 1)]
  if (name === undefined) throw notAServer('mcp add')
  const { headers, transport, bearerVariable } = options
  const url = options.url ?? (command.length === 1 && /^https?:\/\//i.test(command[0] ?? '') ? command[0] : undefined)
  if (url === undefined) return withServer(name, commandOf(command, options.env))
  if (bearerVariable !== undefined) headers.Authorization = `Bearer \${${bearerVariable}}`
  return withServer(name, {
    url,
    ...(transport === 'sse' ? { type: 'sse' } : {}),
    ...(Object.keys(headers).length > 0 ? { headers } : {}),
  })
}

function parseOptions(words: readonly string[], env: JsonObject): AddOptions {
  const options: AddOptions = { env: { ...env }, headers: {}, rest: [] }
  for (let at = 0; at < words.length; at++) {
    const [flag = '', inline] = splitFlag(words[at] as string)
    const kind = WITH_VALUE[flag]
    // After the name and a command, flags belong to the command.
    const inCommand = options.rest.length > 1 && !/^https?:/i.test(options.rest[1] ?? '')
    if (kind === undefined || inCommand) {
      if (!flag.startsWith('-') || inCommand) options.rest.push(words[at] as string)
      continue
    }
    const value = inline ?? words[++at] ?? ''
    if (kind === 'transport') options.transport = value
    if (kind === 'url') options.url = value
    if (kind === 'env') addPair(options.env, value, '=')
    if (kind === 'header') addPair(options.headers, value, ':')
    if (flag === '--bearer-token-env-var') options.bearerVariable = value
  }
  return options
}

function splitFlag(word: string): [flag: string, value?: string] {
  const at = word.startsWith('--') ? word.indexOf('=') : -1
  return at < 0 ? [word] : [word.slice(0, at), word.slice(at + 1)]
}

function addPair(record: JsonObject, text: string, divider: string): void {
  const at = text.indexOf(divider)
  if (at > 0) record[text.slice(0, at).trim()] = text.slice(at + 1).trim()
}

/** `add-json name '{…}'`, with options before or after. */
function readAddJson(words: readonly string[]): JsonObject {
  const json = words.find((word) => word.trimStart().startsWith('{'))
  const name = words.find(
    (word, at) => word !== json && !word.startsWith('-') && !/^(-s|--scope)$/.test(words[at - 1] ?? ''),
  )
  const server = readConfigText(json ?? '')
  if (name === undefined || !isObject(server)) throw notAServer('add-json')
  return withServer(name, server)
}

/** VS Code: JSON with a `name`. Windows shells keep the backslashes before its quotes. */
function readNamedJson(text: string): JsonObject {
  const value = readConfigText(text.startsWith('{\\"') ? text.replaceAll('\\"', '"') : text)
  if (!isObject(value)) throw notAServer('--add-mcp')
  const { name, ...server } = value
  return withServer(typeof name === 'string' ? name : undefined, server)
}

const notAServer = (context: string) =>
  invalidFields([
    {
      path: '(body)',
      message: `holds no server${context === '' ? '' : ` after \`${context}\``}; give a command with its arguments, a URL or a config`,
    },
  ])
