/**
 * Toolkits from the first existing file of a list, reloaded on change. Node only. A file that cannot be read or parsed
 * changes nothing: the last valid content stays, and problems have a line number.
 */
import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { HostError } from '../../errors.ts'
import { lineAtPath, readConfigText } from '../../schema/read/read-config-text.ts'
import { sleep } from '../../util/abort.ts'
import { isObject } from '../../util/is-object.ts'
import type { SourceRead, ToolkitSource } from './sources.ts'

export interface FileSourceOptions {
  /** The first existing path is used. */
  paths: readonly string[]
  /** Poll interval in ms. @default 500 */
  pollMs?: number
}

const MIN_SETTLE_MS = 50

/** Keys of the server map; without any, the file itself is the map. */
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
        // Editors replace a file, so it may be missing for a moment.
        const settled = now.path === current.path || (await isUnchanged(candidates, now, pollMs))
        if (now.mark !== current.mark && settled) {
          const before = current.path
          current = now
          // The receiver reports its own errors; the next change retries.
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
  /** Why the path cannot be read. */
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
  await sleep(Math.max(afterMs, MIN_SETTLE_MS), { keepAlive: true })
  return (await statFirst(candidates)).path === path
}

/** `before` is the previously read file; when another one is used now, its toolkits are removed. */
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

/** Records of a config in a common format. */
export function recordsIn(config: unknown): { records: Record<string, unknown>; prefix: string[] } {
  if (!isObject(config)) throw new HostError('invalid-json', { detail: 'must be an object with "mcpServers"' })
  const wrapper = WRAPPERS.find((key) => isObject(config[key]))
  if (wrapper) return { records: config[wrapper] as Record<string, unknown>, prefix: [wrapper] }
  const [first] = Object.entries(config).find(([, record]) => !isObject(record)) ?? []
  if (first !== undefined)
    throw new HostError('invalid-json', { detail: `must have "mcpServers"; "${first.slice(0, 80)}" is no server` })
  return { records: config, prefix: [] }
}
