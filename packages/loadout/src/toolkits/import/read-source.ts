/**
 * Reads pasted text as a config: a URL, an install link of another app, a command line, JSON with comments or without
 * outer braces, TOML, or YAML. The format is detected by shape; nothing is run or looked up.
 */
import { HostError } from '../../errors.ts'
import { assertPlainJson, invalidFields, type Json, type JsonObject } from '../../schema/json.ts'
import { MAX_CONFIG_TEXT_LENGTH, readConfigText } from '../../schema/read/read-config-text.ts'
import { isObject } from '../../util/is-object.ts'
import { readCommandLine } from './command-line.ts'

export async function readSource(text: string): Promise<Json> {
  if (text.length > MAX_CONFIG_TEXT_LENGTH) return readConfigText(text)
  // Texts copied from a web page have non-breaking spaces, which no parser takes for white space.
  const plain = withoutFence(
    text
      .replace(/^\uFEFF/, '')
      .replaceAll('\u00a0', ' ')
      .trim(),
  )
  if (plain === '') return readConfigText(plain)
  if (isLine(plain)) {
    const link = linkOf(plain)
    if (link !== undefined) return link
    if (/^https?:\/\/\S+$/i.test(plain)) return urlOf(plain)
  }
  if (isCommand(plain)) return readCommandLine(plain)
  const commands = addCommands(plain)
  if (commands.length > 0) return mergeServers(commands.map(readCommandLine))
  if (isToml(plain)) return plainFrom('TOML', async () => (await import('smol-toml')).parse(plain))
  return isJson(plain) ? readJson(plain) : plainFrom('YAML', async () => (await yamlParser())(plain))
}

/** Markdown code blocks include their fences. */
const withoutFence = (text: string) => /^```[\w-]*\n([\s\S]*?)\n?```$/.exec(text)?.[1]?.trim() ?? text
const isLine = (text: string) => !text.includes('\n')
const isToml = (text: string) =>
  /^\s*\[+\s*["']?[\w.-]+/m.test(text) && /^\s*["']?[\w.-]+["']?\s*=\s*\S/m.test(text) && !/^[[{]\s*[{"]/.test(text)
const isJson = (text: string) => /^([{["]|\/\/|\/\*)/.test(text)

const PROGRAM =
  /^(?:[$>%]\s+)?(?:[A-Za-z_][A-Za-z0-9_]*=(?:'[^']*'|"[^"]*"|[^\s'"])*\s+)*(?:[\w.~-]*[\\/])*(npx|npm|bunx|bun|pnpm|pnpx|yarn|uvx|uv|pipx|python3?|node|deno|docker|podman|cmd|claude|codex|gemini|agy|copilot|devin|qwen|droid|amp|kiro-cli|q|codium|windsurf|code|code-insiders|cursor|go|cargo|java|dotnet|sh|bash)(\.exe|\.cmd)?\s/

const NAME = '[A-Za-z_][A-Za-z0-9_]*'
const VALUE = `'[^']*'|"[^"$\`]*"|[^\\s'"$\`]*`
/** A variable as `export A=b` of a POSIX shell, `set A=b` or `set "A=b"` of Windows, or `$env:A = "b"` of PowerShell. */
const VARIABLES: readonly RegExp[] = [
  new RegExp(`^export\\s+(${NAME})=(${VALUE})$`),
  new RegExp(`^set\\s+(${NAME})=([^"]*)$`, 'i'),
  new RegExp(`^set\\s+"(${NAME})=([^"]*)"$`, 'i'),
  new RegExp(`^\\$env:(${NAME})\\s*=\\s*(${VALUE})$`, 'i'),
]

/** `A='b'` of a line that sets a variable. */
function assignmentOf(line: string): string | undefined {
  for (const pattern of VARIABLES) {
    const [, name, value = ''] = pattern.exec(line) ?? []
    if (name !== undefined) return `${name}='${value.replace(/^(['"])(.*)\1$/, '$2').replaceAll("'", `'"'"'`)}'`
  }
  return undefined
}

/** A command of another app that adds a server to it. */
const ADDS_SERVER = /^(?:[$>%]\s+)?[\w-]+(\.exe|\.cmd)?\s+(mcp\s+add(-json)?|--add-mcp)\s/

/** One command, possibly over continued lines. An unknown program counts only in a single-line text. */
function isCommand(text: string): boolean {
  const joined = text.replace(/[\\^`]\r?\n/g, ' ')
  if (!isLine(joined)) return false
  return (
    PROGRAM.test(joined) ||
    (/^[\w./~\\-]+(\s+\S+)*$/.test(joined) &&
      !joined.includes(': ') &&
      !/^["{[]/.test(joined) &&
      !/=/.test(joined.split(/\s/)[0] ?? '') &&
      !joined.endsWith(':'))
  )
}

/** The one command of a script, with the variables set before it; or all its commands that add a server to an app. */
function addCommands(text: string): string[] {
  const lines = text
    .replace(/[ \t]*[\\^`]\r?\n[ \t]*/g, ' ')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !/^(#|\/\/|REM\b)/i.test(line))
  const exported = lines.flatMap((line) => assignmentOf(line) ?? [])
  const commands = lines.filter((line) => assignmentOf(line) === undefined)
  const [only] = commands
  if (only !== undefined && commands.length === 1)
    return PROGRAM.test(`${only} `) ? [[...exported, only].join(' ')] : []
  return commands.every((line) => ADDS_SERVER.test(line)) ? commands : []
}

/** A script that shows a command for each system names the same server again: the first one counts. */
function mergeServers(configs: readonly JsonObject[]): JsonObject {
  const [first, ...rest] = configs
  if (first && rest.length === 0) return first
  const servers: JsonObject = {}
  for (const { mcpServers } of configs)
    for (const [name, server] of Object.entries((mcpServers ?? {}) as JsonObject))
      if (!Object.hasOwn(servers, name)) servers[name] = server
  return { mcpServers: servers }
}

function urlOf(text: string): JsonObject {
  const url = URL.parse(text)
  if (!url) throw invalidFields([{ path: 'url', message: 'is no URL' }])
  if (url.username !== '' || url.password !== '')
    throw invalidFields([{ path: 'url', message: 'holds a user name or a password; give these as headers' }])
  return { url: text }
}

/** Install links of VS Code, Cursor and LM Studio. */
function linkOf(text: string): JsonObject | undefined {
  const url = URL.parse(text)
  if (!url || !/(mcp\/install|add_mcp|install-mcp)/.test(`${url.host}${url.pathname}${url.protocol}`)) return undefined
  const config = url.searchParams.get('config') ?? decodeURIComponent(url.search.slice(1))
  const value = readConfigText(config.trimStart().startsWith('{') ? config : fromBase64(config))
  if (!isObject(value)) return undefined
  const { name = url.searchParams.get('name'), ...server } = value
  return typeof name === 'string' && name !== '' && ('command' in server || 'url' in server)
    ? { mcpServers: { [name]: server } }
    : value
}

function fromBase64(text: string): string {
  try {
    const bytes = atob(text.replaceAll('-', '+').replaceAll('_', '/').replaceAll(' ', '+'))
    return new TextDecoder().decode(Uint8Array.from(bytes, (character) => character.charCodeAt(0)))
  } catch {
    throw invalidFields([{ path: 'config', message: 'is neither JSON nor base64' }])
  }
}

/** A fragment of a config lacks the outer braces and may end with a comma. */
function readJson(text: string): Json {
  if (!text.startsWith('"') && !/^\/[/*]/.test(text)) return readConfigText(text)
  try {
    return readConfigText(text)
  } catch (error) {
    try {
      return readConfigText(`{${text.replace(/,\s*$/, '')}}`)
    } catch {
      throw error
    }
  }
}

/** YAML aliases can expand a small text, so their number is capped. */
async function yamlParser(): Promise<(text: string) => unknown> {
  const { parse } = await import('yaml')
  return (text) => parse(text, { maxAliasCount: 20, prettyErrors: true, schema: 'core' })
}

async function plainFrom(format: string, read: () => Promise<unknown>): Promise<Json> {
  try {
    const value: unknown = JSON.parse(JSON.stringify((await read()) ?? null))
    assertPlainJson(value)
    return value as Json
  } catch (error) {
    if (HostError.is(error)) throw error
    const words = error instanceof Error ? (error.message.split('\n')[0] ?? '').slice(0, 300) : 'it cannot be read'
    throw new HostError('invalid-json', {
      detail: `The text is neither JSON nor ${format}: ${words}.`,
      action: 'Paste a config, a URL or a command line. Comments and trailing commas may stay.',
    })
  }
}
