/**
 * Toolkits that are defined outside the database: by a file or by `createHost`. They are stored at the app tier with
 * their source and are read-only elsewhere. A broken source keeps its last valid toolkits. An entry that leaves a
 * readable source is removed with its tools and credentials. An absent source removes nothing unless it was present
 * before, because another host may have it.
 */
import { HostError } from '../../errors.ts'
import { slugFrom } from '../../schema/ids.ts'
import { sameJson } from '../../schema/json.ts'
import { readToolkit } from '../../schema/read/read-toolkit.ts'
import { takeFunctions } from '../functions.ts'
import type { Registry } from '../registry.ts'
import { fillSecrets } from '../secrets/secrets.ts'
import { optionsOf, type StoredToolkit } from '../stored-toolkit.ts'

export interface ToolkitSource {
  /** Reports the content now and on each change. Resolves after the first report. */
  follow(onRead: (read: SourceRead) => Promise<void>): Promise<() => void>
}

export interface SourceRead {
  /** Source name of the toolkits: the file path, or `createHost({ mcpServers })`. Absent when there is no source. */
  source?: string
  /** Records by name, in any spelling; undefined when the source cannot be read. */
  records?: Record<string, unknown>
  /** Whether entries that are not in `records` are removed. @default true */
  complete?: boolean
  /** Previously read source that this one replaces. */
  replaces?: string
  problems?: SourceProblem[]
  /** Line of an entry, when the source has lines. */
  lineOf?: (path: readonly string[]) => number | undefined
}

/** A problem in a source, with its location. */
export interface SourceProblem {
  source: string
  /** The entry; absent when the whole source is invalid. */
  entry?: string
  line?: number
  message: string
}

export interface Sources {
  /** Resolves once every source was read for the first time. */
  ready(): Promise<void>
  problems(): readonly SourceProblem[]
  /** Whether a source of this host currently defines the toolkit. */
  defines(source: string, id: string): boolean
  close(): Promise<void>
}

export interface SourceDeps {
  registry: Pick<Registry, 'register' | 'remove' | 'appStored' | 'bind' | 'defaults'>
  secrets(owner: { userId: string; toolkit: string }): Promise<Record<string, string>>
  onProblem?: ((problem: SourceProblem) => void) | undefined
}

const APP = { tier: 'app' } as const

export function createSources(deps: SourceDeps, sources: readonly ToolkitSource[]): Sources {
  /** Last state per source: problems and defined toolkits. */
  const states = new Map<ToolkitSource, SourceState>()
  let queue: Promise<unknown> = Promise.resolve()
  let started: Promise<Array<() => void>> | undefined

  const applyRead = async (source: ToolkitSource, read: SourceRead) => {
    const before = states.get(source)
    if (read.replaces !== undefined) await removeAll(deps, read.replaces)
    const found = [...(read.problems ?? [])]
    const applied = read.records && read.source !== undefined ? await apply(deps, read.source, read) : undefined
    if (applied) found.push(...applied.problems)
    // A source that cannot be read keeps its toolkits.
    const ids = applied?.ids ?? (read.source === undefined ? new Set<string>() : (before?.ids ?? new Set<string>()))
    states.set(source, { source: read.source, ids, problems: found })
    for (const problem of found) deps.onProblem?.(problem)
  }
  // Sequential: two sources with the same toolkit must not interleave.
  const onRead = (source: ToolkitSource) => (read: SourceRead) => {
    const done = queue.then(() => applyRead(source, read))
    queue = done.catch(() => {})
    return done
  }
  const start = async () => {
    const stops: Array<() => void> = []
    try {
      for (const source of sources) stops.push(await source.follow(onRead(source)))
    } catch (error) {
      for (const stop of stops) stop()
      throw error
    }
    return stops
  }
  return {
    async ready() {
      started ??= start()
      await started.catch((error: unknown) => {
        started = undefined
        throw error
      })
    },
    problems: () => [...states.values()].flatMap((state) => state.problems),
    defines: (source, id) => [...states.values()].some((state) => state.source === source && state.ids.has(id)),
    async close() {
      const stops = await started?.catch(() => [])
      for (const stop of stops ?? []) stop()
      await queue
    },
  }
}

interface SourceState {
  source: string | undefined
  ids: ReadonlySet<string>
  problems: readonly SourceProblem[]
}

async function toolkitsFrom(deps: SourceDeps, source: string): Promise<StoredToolkit[]> {
  return (await deps.registry.appStored()).filter((stored) => stored.toolkit.source === source)
}

async function removeAll(deps: SourceDeps, source: string): Promise<void> {
  for (const stale of await toolkitsFrom(deps, source))
    await deps.registry.remove(stale.uscoId, APP, source).catch(ignoreMissing)
}

/** Updates storage to the content of the source. Returns the defined ids and the problems. */
async function apply(
  deps: SourceDeps,
  source: string,
  { records = {}, lineOf, complete = true }: SourceRead,
): Promise<{ ids: Set<string>; problems: SourceProblem[] }> {
  const problems: SourceProblem[] = []
  const ids = new Set<string>()
  for (const [name, record] of Object.entries(records)) {
    const id = idOf(name, record)
    try {
      if (ids.has(id)) throw new HostError('conflict', { detail: `another entry makes the same id, "${id}"` })
      ids.add(id)
      await upsert(deps, { source, id, name, record })
    } catch (thrown) {
      const error = HostError.from(thrown)
      const path = error.errors?.[0]?.path.split('.') ?? []
      const line = lineOf?.([name, ...path])
      const message = error.errors?.map((field) => `${field.path} ${field.message}`).join('; ') ?? error.message
      problems.push({ source, entry: name, message, ...(line === undefined ? {} : { line }) })
    }
  }
  if (complete)
    for (const stale of await toolkitsFrom(deps, source))
      if (!ids.has(stale.toolkit.id)) await deps.registry.remove(stale.uscoId, APP, source).catch(ignoreMissing)
  return { ids, problems }
}

const idOf = (name: string, record: unknown) => {
  const explicitId = (record as { id?: unknown } | null)?.id
  return typeof explicitId === 'string' ? explicitId : slugFrom(name)
}

interface Entry {
  source: string
  id: string
  name: string
  record: unknown
}

async function upsert(deps: SourceDeps, { source, id, name, record }: Entry): Promise<void> {
  const input = { id, name, ...(record as object) }
  const before = await deps.registry.appStored()
  // An entry with a new id is a new toolkit; its name must be free first.
  const renamed = before.find(
    (stored) => stored.toolkit.source === source && stored.toolkit.name === name && stored.toolkit.id !== id,
  )
  if (renamed) await deps.registry.remove(renamed.uscoId, APP, source).catch(ignoreMissing)
  const existing = before.find((stored) => stored.toolkit.id === id)
  if (existing && existing.toolkit.source !== source)
    throw new HostError('conflict', {
      detail: `the app has a toolkit "${id}" already, from ${existing.toolkit.source ?? 'an operator'}`,
    })
  const { input: serializable, functions } = takeFunctions(input)
  // Functions live in this process, so they are bound each time.
  if (existing && (await isSame(deps, existing, serializable))) return deps.registry.bind(existing, functions)
  await deps.registry.register(input, APP, { source })
}

/** Writes nothing when nothing changed, so that a restart closes no connection and triggers no discovery. */
async function isSame(deps: SourceDeps, existing: StoredToolkit, input: unknown): Promise<boolean> {
  const { toolkit: wanted } = readToolkit(input, { defaults: await deps.registry.defaults() })
  // When the secrets' key is lost, writing them again fixes it.
  const secrets = await deps.secrets({ userId: existing.userId, toolkit: existing.uscoId }).catch(() => undefined)
  if (!secrets) return false
  const { toolkit } = existing
  const { source: _, ...options } = optionsOf(toolkit)
  const now = { ...options, name: toolkit.name, enabled: toolkit.enabled, server: fillSecrets(toolkit.server, secrets) }
  const next = { ...optionsOf(wanted), name: wanted.name, enabled: wanted.enabled, server: wanted.server }
  return sameJson(now, next)
}

function ignoreMissing(error: unknown): void {
  // Another process with the same source removed it first.
  if (!HostError.is(error) || error.code !== 'not-found') throw error
}

/** Records from app code. Another host on the same storage may have other records, so none are removed. */
export function inlineSource(source: string, records: Record<string, unknown>): ToolkitSource {
  return {
    async follow(onRead) {
      await onRead({ source, records, complete: false })
      return () => {}
    },
  }
}
