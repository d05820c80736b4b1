/**
 * Detects the format of a config by its shape, never by its file name, and lists its servers and declared inputs. The
 * first matching entry of `SHAPES` reads the config.
 */

import { invalidFields, type JsonObject } from '../../schema/json.ts'
import { isObject } from '../../util/is-object.ts'

export interface FoundServers {
  shape: string
  /** Servers with their names. A name may repeat when two keys contain servers. */
  servers: Array<[name: string, value: unknown]>
  /** Input declarations, unparsed. */
  inputs: unknown
  /** Other keys, which are not read. */
  ignored: string[]
}

type Shape = (config: JsonObject) => FoundServers | undefined

const KEYS = ['mcpServers', 'servers', 'context_servers', 'mcp_servers', 'amp.mcpServers'] as const
const OTHER_KEYS = ['inputs', '$schema', 'skipped']

/**
 * Claude Desktop, Claude Code, Cursor and many others; VS Code and Visual Studio; Zed; Codex; Amp. One file may have several
 * keys. Continue and mcpproxy write a list of named servers.
 */
const keyed: Shape = (config) => {
  const keys = KEYS.filter((key) => isObject(config[key]) || isNamedList(config[key]))
  const [shape] = keys
  if (shape === undefined) return undefined
  return {
    shape,
    servers: keys.flatMap((key) => entriesOf(config[key])),
    inputs: config.inputs,
    ignored: Object.keys(config).filter(
      (key) => !keys.some((serverKey) => serverKey === key) && !OTHER_KEYS.includes(key),
    ),
  }
}

const isNamedList = (value: unknown): value is JsonObject[] =>
  Array.isArray(value) && value.length > 0 && value.every((item) => isObject(item) && typeof item.name === 'string')

const entriesOf = (value: unknown): Array<[string, unknown]> =>
  isNamedList(value)
    ? value.map(({ name, ...server }) => [String(name), server])
    : Object.entries((value ?? {}) as JsonObject)

/** VS Code settings (`mcp.servers`), a devcontainer, OpenCode and Crush (`mcp.<name>`), Augment. */
const nested: Shape = (config) => {
  const { customizations } = config
  const vscode = isObject(customizations) && isObject(customizations.vscode) ? customizations.vscode.mcp : undefined
  const augment = config['augment.advanced']
  if (isObject(augment)) return keyed(augment)
  const mcp = vscode ?? config.mcp ?? (isObject(config['mcp.servers']) ? { servers: config['mcp.servers'] } : undefined)
  if (!isObject(mcp)) return undefined
  const inner = isObject(mcp.servers) && !describesServer(mcp.servers) ? mcp : { servers: mcp }
  const found = keyed(inner as JsonObject)
  return (
    found && {
      ...found,
      shape: 'mcp',
      ignored: Object.keys(config).filter((key) => !/^(\$schema|mcp|customizations)/.test(key)),
    }
  )
}

/** Goose. */
const extensions: Shape = (config) => {
  const { extensions: entries } = config
  if (
    !isObject(entries) ||
    !Object.values(entries).some(
      (entry) => isObject(entry) && (typeof entry.type === 'string' || describesServer(entry)),
    )
  )
    return undefined
  const ignored = Object.keys(config).filter((key) => key !== 'extensions')
  return { shape: 'extensions', servers: Object.entries(entries), inputs: undefined, ignored }
}

/** The user file of Claude Code has servers per project. Its other fields are ignored. */
const projects: Shape = (config) => {
  const { projects: byProject } = config
  if (!isObject(byProject)) return undefined
  const own = isObject(config.mcpServers) ? Object.entries(config.mcpServers) : []
  const projectServers = Object.values(byProject).flatMap((project) =>
    isObject(project) && isObject(project.mcpServers) ? Object.entries(project.mcpServers) : [],
  )
  if (projectServers.length === 0) return undefined
  return { shape: 'mcpServers', servers: [...own, ...projectServers], inputs: undefined, ignored: [] }
}

/** A single server. */
const bare: Shape = (config) => {
  if (!describesServer(config)) return undefined
  const { inputs, ...server } = config
  return { shape: 'server', servers: [[nameOf(server), server]], inputs, ignored: [] }
}

/** Servers by name, without a surrounding key. */
const map: Shape = (config) => {
  const values = Object.values(config)
  if (!values.some((value) => isObject(value) && describesServer(value))) return undefined
  const { inputs, ...servers } = config
  const declares = Array.isArray(inputs)
  return {
    shape: 'map',
    servers: Object.entries(declares ? servers : config),
    inputs: declares ? inputs : undefined,
    ignored: [],
  }
}

const SHAPES: readonly Shape[] = [projects, keyed, nested, extensions, bare, map]

export function findServers(config: unknown): FoundServers {
  if (isObject(config))
    for (const shape of SHAPES) {
      const found = shape(config)
      if (found) return found
    }
  throw invalidFields([
    {
      path: '(body)',
      message:
        'holds no servers; give { "mcpServers": { name: server } }, a config of another app, a map of servers by name, one server with a command or a url, a URL or a command line',
    },
  ])
}

const SERVER_FIELDS = ['command', 'cmd', 'url', 'uri', 'httpUrl', 'serverUrl', 'template']
const describesServer = (value: JsonObject) =>
  SERVER_FIELDS.some((field) => typeof value[field] === 'string') ||
  (Array.isArray(value.command) && value.command.length > 0)

/** Name for an unnamed server: its own name field, the host of its URL, or the package or program of its command. */
function nameOf(server: JsonObject): string {
  const { name, serverName, url, serverUrl, httpUrl, uri, command, args } = server
  const own = [name, serverName].find((value) => typeof value === 'string' && value.trim() !== '')
  if (typeof own === 'string') return own
  const host = [url, serverUrl, httpUrl, uri, remoteOf(args)].map((value) =>
    typeof value === 'string' ? URL.parse(value)?.hostname : undefined,
  )
  const found = host.find((value) => value) ?? programOf(command, args)
  return found.slice(0, 100) || 'server'
}

const RUNNERS = new Set(['npx', 'bunx', 'uvx', 'pnpx', 'pipx', 'docker', 'podman'])
const SUBCOMMANDS = new Set(['run', 'dlx', 'exec', 'x'])

/** The URL behind `mcp-remote` is a better name than the proxy. */
const remoteOf = (args: unknown) =>
  Array.isArray(args) && args.some((arg) => /^mcp-remote(@|$)/.test(String(arg)))
    ? args.find((arg) => /^https?:/.test(String(arg)))
    : undefined

/** `docker run` flags with a value in the next word. */
const DOCKER_VALUES = new Set([
  '-e',
  '--env',
  '-v',
  '--volume',
  '--mount',
  '-p',
  '--publish',
  '--name',
  '--network',
  '-w',
  '--env-file',
  '--entrypoint',
  '--user',
  '-u',
])

function programOf(commandValue: unknown, argsValue: unknown): string {
  const words = (
    Array.isArray(commandValue) ? commandValue : [commandValue, ...(Array.isArray(argsValue) ? argsValue : [])]
  ).map(String)
  const [command, ...args] = words
  const program = lastPart(command === 'undefined' ? '' : (command ?? ''))
  const isDocker = /^(docker|podman)$/.test(program)
  const first = args.find(
    (arg, at) =>
      !arg.startsWith('-') &&
      !SUBCOMMANDS.has(arg) &&
      !(isDocker && DOCKER_VALUES.has(args[at - 1] ?? '')) &&
      args[at - 1] !== '--from',
  )
  const package_ =
    RUNNERS.has(program) && typeof first === 'string'
      ? lastPart(first.replace(/@sha256:\w+$/, '')).replace(/[@:][^@:]*$/, '')
      : ''
  return package_ || program
}

const lastPart = (path: string) =>
  path
    .split(/[\\/]/)
    .filter((part) => part !== '')
    .at(-1) ?? ''
