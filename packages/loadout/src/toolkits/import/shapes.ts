/**
 * What kind of config a value is, told by its shape and never by the name of its file. One entry of `SHAPES` a format;
 * the first that fits reads it. Here servers and declared inputs are found; what they mean is read elsewhere.
 */
import { isObject } from '../../schema/collect-fields.ts'
import { invalidFields, type JsonObject } from '../../schema/json.ts'

export interface FoundServers {
  shape: string
  /** Each server with its name there. A name may come twice, where two keys hold servers. */
  servers: Array<[name: string, value: unknown]>
  /** Declarations of inputs, as they stand there. */
  inputs: unknown
  /** Keys beside the servers that are not read. */
  ignored: string[]
}

type Shape = (config: JsonObject) => FoundServers | undefined

/** Claude Desktop, Claude Code, Cursor and many others; VS Code and Visual Studio. One file may hold both keys. */
const keyed: Shape = (config) => {
  const keys = ['mcpServers', 'servers'].filter((key) => isObject(config[key]))
  const [shape] = keys
  if (shape === undefined) return undefined
  return {
    shape,
    servers: keys.flatMap((key) => Object.entries(config[key] as JsonObject)),
    inputs: config.inputs,
    ignored: Object.keys(config).filter((key) => ![...keys, 'inputs', '$schema', 'skipped'].includes(key)),
  }
}

/** One server by itself. */
const bare: Shape = (config) => {
  if (!describesServer(config)) return undefined
  const { inputs, ...server } = config
  return { shape: 'server', servers: [[nameOf(server), server]], inputs, ignored: [] }
}

/** Servers by name, without a key around them. */
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

const SHAPES: readonly Shape[] = [keyed, bare, map]

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
        'holds no servers; give { "mcpServers": { name: server } }, { "servers": { name: server } }, a map of servers by name, or one server with a command or a url',
    },
  ])
}

const MARKS = ['command', 'url', 'serverUrl', 'template']
const describesServer = (value: JsonObject) => MARKS.some((mark) => typeof value[mark] === 'string')

/** A name for a server that has none: its own word, the host of its URL, the package or program of its command. */
function nameOf(server: JsonObject): string {
  const { name, serverName, url, serverUrl, command, args } = server
  const own = [name, serverName].find((value) => typeof value === 'string' && value.trim() !== '')
  if (typeof own === 'string') return own
  const host = [url, serverUrl].map((value) => (typeof value === 'string' ? URL.parse(value)?.hostname : undefined))
  const found = host.find((value) => value) ?? programOf(command, args)
  return found.slice(0, 100) || 'server'
}

const RUNNERS = new Set(['npx', 'bunx', 'uvx', 'pnpx'])

function programOf(command: unknown, args: unknown): string {
  const program = lastPart(String(command ?? ''))
  const first = Array.isArray(args) ? args.find((arg) => typeof arg === 'string' && !arg.startsWith('-')) : undefined
  const package_ = RUNNERS.has(program) && typeof first === 'string' ? lastPart(first).replace(/@[^@]*$/, '') : ''
  return package_ || program
}

const lastPart = (path: string) =>
  path
    .split(/[\\/]/)
    .filter((part) => part !== '')
    .at(-1) ?? ''
