/**
 * Toolkits from a file: the first of some paths that exists, read again when it changes. Node only. A file that cannot be
 * read or understood changes nothing: what it last said well stays, and what is wrong is told by line.
 */
import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { HostError } from '../../errors.ts'
import { isObject } from '../../schema/read/field-aliases.ts'
import { lineOf, readConfigText } from '../../schema/read/read-config-text.ts'
import type { SourceRead, ToolkitSource } from './sources.ts'

export interface FileSourceOptions {
  /** The first that exists is used. */
  paths: readonly string[]
  /** How often the file is looked at. @default 500 */
  pollMs?: number
}

const LEAST_GONE_MS = 50

/** Under which of these a file has its servers; without any, the file itself is the map. */
const WRAPPERS = ['mcpServers', 'servers']

export function fileSource({ paths, pollMs = 500 }: FileSourceOptions): ToolkitSource {
  const places = paths.map((path) => resolve(path))
  return {
    async follow(tell) {
      let seen = await look(places)
      await tell(await readSource(seen, undefined))
      let stopped = false
      let timer: ReturnType<typeof setTimeout> | undefined
      const again = async () => {
        const now = await look(places)
        // Editors put a new file in the place of the old one: it is gone for a moment, and only for that.
        const settled = now.path === seen.path || (await stillSo(places, now, pollMs))
        if (now.mark !== seen.mark && settled) {
          const before = seen.path
          seen = now
          // What goes wrong in taking it is told by whoever takes it; the next change is another chance.
          await tell(await readSource(now, before)).catch(() => {})
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
  /** Why it cannot even be looked at. */
  problem?: string
}

async function look(places: readonly string[]): Promise<Look> {
  for (const path of places) {
    try {
      const found = await stat(path)
      if (!found.isFile()) return { path, mark: `${path} is no file`, problem: 'is not a file' }
      return { path, mark: `${path} ${found.ino} ${found.mtimeMs} ${found.size}` }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code !== 'ENOENT' && code !== 'ENOTDIR')
        return { path, mark: `${path} ${code}`, problem: `cannot be looked at (${code})` }
    }
  }
  return { path: undefined, mark: '' }
}

async function stillSo(places: readonly string[], { path }: Look, afterMs: number): Promise<boolean> {
  await new Promise((done) => setTimeout(done, Math.max(afterMs, LEAST_GONE_MS)).unref())
  return (await look(places)).path === path
}

/** `before` is the file that was read last: where another is used now, what it said is over. */
async function readSource({ path, problem }: Look, before: string | undefined): Promise<SourceRead> {
  const over = before !== undefined && before !== path ? { over: before } : {}
  if (path === undefined) return over
  try {
    if (problem !== undefined) throw new HostError('config-invalid', { detail: problem })
    const text = await readFile(path, 'utf8')
    const { records, prefix } = recordsIn(readConfigText(text))
    return { ...over, source: path, records, lineOf: (place) => lineOf(text, [...prefix, ...place]) }
  } catch (error) {
    const told = HostError.is(error) ? error.message : `cannot be read (${(error as NodeJS.ErrnoException).code})`
    const [, line] = /line (\d+)/.exec(told) ?? []
    return { source: path, problems: [{ source: path, message: told, ...(line ? { line: Number(line) } : {}) }] }
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
