/**
 * Toolkits from a file: the first of some paths that exists, read again when it changes. Node only. A file that cannot be
 * read or understood changes nothing: what it last said well stays, and what is wrong is told by line.
 */
import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { HostError } from '../../errors.ts'
import { isObject } from '../../schema/read/field-aliases.ts'
import { lineAtPath, readConfigText } from '../../schema/read/read-config-text.ts'
import type { SourceRead, ToolkitSource } from './sources.ts'

export interface FileSourceOptions {
  /** The first that exists is used. */
  paths: readonly string[]
  /** How often the file is looked at. @default 500 */
  pollMs?: number
}

const MIN_SETTLE_MS = 50

/** Under which of these a file has its servers; without any, the file itself is the map. */
const WRAPPERS = ['mcpServers', 'servers']

export function fileSource({ paths, pollMs = 500 }: FileSourceOptions): ToolkitSource {
  const candidates = paths.map((path) => resolve(path))
  return {
    async follow(onRead) {
      let current = await statFirst(candidates)
      await onRead(await readSource(current, undefined))
      let stopped = false
      let timer: ReturnType<typeof setTimeout> | undefined
      const poll = async () => {
        const now = await statFirst(candidates)
        // Editors put a new file in the place of the old one: it is gone for a moment, and only for that.
        const settled = now.path === current.path || (await isUnchanged(candidates, now, pollMs))
        if (now.mark !== current.mark && settled) {
          const before = current.path
          current = now
          // What goes wrong in taking it is told by whoever takes it; the next change is another chance.
          await onRead(await readSource(now, before)).catch(() => {})
        }
        if (!stopped) timer = setTimeout(poll, pollMs).unref()
      }
      timer = setTimeout(poll, pollMs).unref()
      return () => {
        stopped = true
        clearTimeout(timer)
      }
    },
  }
}

interface FileStatus {
  path: string | undefined
  /** Changes whenever the file does. */
  mark: string
  /** Why it cannot even be looked at. */
  problem?: string
}

async function statFirst(candidates: readonly string[]): Promise<FileStatus> {
  for (const path of candidates) {
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

async function isUnchanged(candidates: readonly string[], { path }: FileStatus, afterMs: number): Promise<boolean> {
  await new Promise((done) => setTimeout(done, Math.max(afterMs, MIN_SETTLE_MS)).unref())
  return (await statFirst(candidates)).path === path
}

/** `before` is the file that was read last: where another is used now, what it said is over. */
async function readSource({ path, problem }: FileStatus, before: string | undefined): Promise<SourceRead> {
  const replaces = before !== undefined && before !== path ? { replaces: before } : {}
  if (path === undefined) return replaces
  try {
    if (problem !== undefined) throw new HostError('config-invalid', { detail: problem })
    const text = await readFile(path, 'utf8')
    const { records, prefix } = recordsIn(readConfigText(text))
    return { ...replaces, source: path, records, lineOf: (entryPath) => lineAtPath(text, [...prefix, ...entryPath]) }
  } catch (error) {
    const message = HostError.is(error) ? error.message : `cannot be read (${(error as NodeJS.ErrnoException).code})`
    const [, line] = /line (\d+)/.exec(message) ?? []
    return { source: path, problems: [{ source: path, message, ...(line ? { line: Number(line) } : {}) }] }
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
