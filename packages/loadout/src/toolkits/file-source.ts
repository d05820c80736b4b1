/**
 * Toolkits from a file: the first of some paths that exists, read again when it changes. Node only. A file that cannot be
 * read or understood changes nothing: what it last said well stays, and what is wrong is told by line.
 */
import { readFile, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { HostError } from '../errors.ts'
import { isObject } from '../schema/collect-fields.ts'
import { lineOf, readConfigText } from '../schema/read-config-text.ts'
import type { SourceProblem, SourceRead, ToolkitSource } from './sources.ts'

export interface FileSourceOptions {
  /** The first that exists is used. */
  paths: readonly string[]
  /** How often the file is looked at. @default 500 */
  pollMs?: number
}

/** Under which of these a file has its servers; without any, the file itself is the map. */
const WRAPPERS = ['mcpServers', 'servers']

export function fileSource({ paths, pollMs = 500 }: FileSourceOptions): ToolkitSource {
  const name = basename(paths[0] ?? 'mcp-servers.json')
  return {
    name,
    async follow(tell) {
      let seen = await look(paths)
      await tell(await readSource(name, seen))
      let stopped = false
      let timer: ReturnType<typeof setTimeout> | undefined
      const again = async () => {
        const now = await look(paths)
        if (now.mark !== seen.mark) {
          seen = now
          // What goes wrong in taking it is told by whoever takes it; the next change is another chance.
          await tell(await readSource(name, now)).catch(() => {})
        }
        if (!stopped) timer = setTimeout(again, pollMs).unref()
      }
      timer = setTimeout(again, pollMs).unref()
      return () => {
        stopped = true
        clearTimeout(timer)
      }
    },
  }
}

interface Look {
  path: string | undefined
  /** Changes whenever the file does. */
  mark: string
}

async function look(paths: readonly string[]): Promise<Look> {
  for (const path of paths) {
    const found = await stat(path).catch(() => undefined)
    if (found?.isFile()) return { path, mark: `${path} ${found.ino} ${found.mtimeMs} ${found.size}` }
  }
  return { path: undefined, mark: '' }
}

async function readSource(name: string, { path }: Look): Promise<SourceRead> {
  if (path === undefined) return { records: {} }
  try {
    const text = await readFile(path, 'utf8')
    const { records, prefix } = recordsIn(readConfigText(text))
    return { records, lineOf: (place) => lineOf(text, [...prefix, ...place]) }
  } catch (error) {
    const { message } = HostError.is(error)
      ? error
      : { message: `cannot be read (${(error as NodeJS.ErrnoException).code})` }
    const problem: SourceProblem = { source: name, message: `${path}: ${message}` }
    return { problems: [problem] }
  }
}

/** The records of a config in the common shape. */
export function recordsIn(config: unknown): { records: Record<string, unknown>; prefix: string[] } {
  if (!isObject(config)) throw new HostError('invalid-json', { detail: 'must be an object with "mcpServers"' })
  const wrapper = WRAPPERS.find((key) => isObject(config[key]))
  if (wrapper) return { records: config[wrapper] as Record<string, unknown>, prefix: [wrapper] }
  const [first] = Object.entries(config).find(([, record]) => !isObject(record)) ?? []
  if (first !== undefined)
    throw new HostError('invalid-json', { detail: `must have "mcpServers"; "${first.slice(0, 80)}" is no server` })
  return { records: config, prefix: [] }
}
