/**
 * Toolkits that are defined outside the database: by a file, or in the code that makes the host. They are kept at the app
 * tier, marked with their source, and read-only everywhere else. A source that breaks keeps what it last said well; an
 * entry that goes away from its source goes away here, with its tools and credentials.
 */
import { HostError } from '../errors.ts'
import { slugFrom } from '../schema/ids.ts'
import { sameJson } from '../schema/json.ts'
import { readToolkit } from '../schema/read-toolkit.ts'
import { takeFunctions } from './functions.ts'
import type { Registry } from './registry.ts'
import { fillSecrets } from './secrets.ts'
import { optionsOf, type StoredToolkit } from './stored-toolkit.ts'

export interface ToolkitSource {
  /** For people: `./mcp-servers.json`, `createHost({ mcpServers })`. */
  readonly name: string
  /** Tells what the source says, now and whenever it changes. Resolves after the first time. */
  follow(tell: (read: SourceRead) => Promise<void>): Promise<() => void>
}

export interface SourceRead {
  /** Records by name, in any spelling; undefined where the source as a whole cannot be read. */
  records?: Record<string, unknown>
  /** What is wrong with it. */
  problems?: SourceProblem[]
  /** The line of an entry, where the source has lines. */
  lineOf?: (path: readonly string[]) => number | undefined
}

/** What is wrong in a source, and where. */
export interface SourceProblem {
  source: string
  /** The entry; none where the whole source is broken. */
  entry?: string
  line?: number
  message: string
}

export interface Sources {
  /** Once every source was read for the first time. Later calls wait for the same. */
  ready(): Promise<void>
  problems(): readonly SourceProblem[]
  close(): Promise<void>
}

export interface SourceParts {
  registry: Pick<Registry, 'register' | 'remove' | 'appStored' | 'bind' | 'defaults'>
  secrets(owner: { userId: string; toolkit: string }): Promise<Record<string, string>>
  onProblem?: ((problem: SourceProblem) => void) | undefined
}

const APP = { tier: 'app' } as const

export function createSources(parts: SourceParts, sources: readonly ToolkitSource[]): Sources {
  const problems = new Map<string, readonly SourceProblem[]>()
  const queue = { last: Promise.resolve() }
  let started: Promise<Array<() => void>> | undefined

  const take = async (source: ToolkitSource, read: SourceRead) => {
    const found = [...(read.problems ?? [])]
    if (read.records) found.push(...(await apply(parts, source.name, read)))
    problems.set(source.name, found)
    for (const problem of found) parts.onProblem?.(problem)
  }
  // One at a time: two sources that name the same toolkit must not cross.
  const tell = (source: ToolkitSource) => (read: SourceRead) => {
    queue.last = queue.last.then(() => take(source, read))
    const done = queue.last
    queue.last = done.catch(() => {})
    return done
  }
  const start = async () => {
    const stops: Array<() => void> = []
    for (const source of sources) stops.push(await source.follow(tell(source)))
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
    problems: () => [...problems.values()].flat(),
    async close() {
      const stops = await started?.catch(() => [])
      for (const stop of stops ?? []) stop()
      await queue.last
    },
  }
}

/** Brings what is stored to what the source says. Gives what could not be brought. */
async function apply(
  parts: SourceParts,
  source: string,
  { records = {}, lineOf }: SourceRead,
): Promise<SourceProblem[]> {
  const problems: SourceProblem[] = []
  const before = await parts.registry.appStored()
  const mine = new Map(before.filter((one) => one.toolkit.source === source).map((one) => [one.toolkit.id, one]))
  const kept = new Set<string>()
  for (const [name, record] of Object.entries(records)) {
    const id = idOf(name, record)
    kept.add(id)
    try {
      await put(parts, { source, id, name, record, before })
    } catch (thrown) {
      const error = HostError.from(thrown)
      const path = error.errors?.[0]?.path.split('.') ?? []
      const line = lineOf?.([name, ...path])
      const message = error.errors?.map((field) => `${field.path} ${field.message}`).join('; ') ?? error.message
      problems.push({ source, entry: name, message, ...(line === undefined ? {} : { line }) })
    }
  }
  for (const [id, gone] of mine)
    if (!kept.has(id)) await parts.registry.remove(gone.uscoId, APP, source).catch(ignoreMissing)
  return problems
}

const idOf = (name: string, record: unknown) => {
  const given = (record as { id?: unknown } | null)?.id
  return typeof given === 'string' ? given : slugFrom(name)
}

interface Entry {
  source: string
  id: string
  name: string
  record: unknown
  before: readonly StoredToolkit[]
}

async function put(parts: SourceParts, { source, id, name, record, before }: Entry): Promise<void> {
  const input = { id, name, ...(record as object) }
  const existing = before.find((one) => one.toolkit.id === id)
  if (existing && existing.toolkit.source !== source)
    throw new HostError('conflict', {
      detail: `the app has a toolkit "${id}" already, from ${existing.toolkit.source ?? 'an operator'}`,
    })
  const { input: plain, functions } = takeFunctions(input)
  // Functions live in this process: they are given anew each time.
  if (existing && (await isSame(parts, existing, plain))) return parts.registry.bind(existing, functions)
  await parts.registry.register(input, APP, { source })
}

/** Nothing is written where nothing changed, so that a restart closes no connection and asks nobody to look anew. */
async function isSame(parts: SourceParts, existing: StoredToolkit, input: unknown): Promise<boolean> {
  const { toolkit: wanted } = readToolkit(input, { defaults: await parts.registry.defaults() })
  const secrets = await parts.secrets({ userId: existing.userId, toolkit: existing.uscoId })
  const { toolkit } = existing
  const { source: _, ...options } = optionsOf(toolkit)
  const now = { ...options, name: toolkit.name, enabled: toolkit.enabled, server: fillSecrets(toolkit.server, secrets) }
  const next = { ...optionsOf(wanted), name: wanted.name, enabled: wanted.enabled, server: wanted.server }
  return sameJson(now, next)
}

function ignoreMissing(error: unknown): void {
  // Another process that reads the same source was faster.
  if (!HostError.is(error) || error.code !== 'not-found') throw error
}

/** Records that the app's code gives. */
export function givenSource(name: string, records: Record<string, unknown>): ToolkitSource {
  return {
    name,
    async follow(tell) {
      await tell({ records })
      return () => {}
    },
  }
}
