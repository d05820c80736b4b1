/**
 * The sets to search in, read from a folder that is given: `<set>/{meta,tools,queries}.json`; a folder without queries is a
 * corpus whose tools stand among the others. Half of the queries, by their hash, is for tuning; only the other is reported.
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface BenchTool {
  id: string
  server: string
  name: string
  description?: string
  inputSchema?: Record<string, unknown>
  /** What it was asked for: drawn from the half for tuning. */
  examples?: readonly string[]
}

export interface BenchQuery {
  query: string
  /** Any member of a group counts for it. */
  groups: string[][]
}

export interface BenchSet {
  name: string
  source: string
  license: string
  tools: BenchTool[]
  tuning: BenchQuery[]
  reported: BenchQuery[]
}

export interface Corpus {
  name: string
  source: string
  license: string
  tools: BenchTool[]
}

interface Meta {
  source: string
  license: string
}
interface RawQuery {
  query: string
  gold: string[]
  goldGroups?: string[][]
}

/** A set this small has no half to spare: every query is reported. */
const SMALL = 60

export function readSets(folder: string): { sets: BenchSet[]; corpora: Corpus[] } {
  const names = readdirSync(folder, { withFileTypes: true }).filter((one) => one.isDirectory())
  const sets: BenchSet[] = []
  const corpora: Corpus[] = []
  for (const { name } of names.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (!existsSync(join(folder, name, 'tools.json'))) continue
    const read = <T>(file: string) => JSON.parse(readFileSync(join(folder, name, file), 'utf8')) as T
    const { source, license } = read<Meta>('meta.json')
    const tools = read<BenchTool[]>('tools.json')
    if (!existsSync(join(folder, name, 'queries.json'))) corpora.push({ name, source, license, tools })
    else sets.push({ name, source, license, tools, ...halves(read<RawQuery[]>('queries.json')) })
  }
  return { sets, corpora }
}

function halves(raw: readonly RawQuery[]): Pick<BenchSet, 'tuning' | 'reported'> {
  const all = raw.map(({ query, gold, goldGroups }) => ({ query, groups: goldGroups ?? gold.map((one) => [one]) }))
  if (all.length < SMALL) return { tuning: [], reported: all }
  const { tuning = [], reported = [] } = Object.groupBy(all, ({ query }) =>
    (hash(query)[0] as number) % 2 === 0 ? 'tuning' : 'reported',
  )
  return { tuning, reported }
}

const hash = (text: string) => createHash('sha256').update(text).digest()
const byHash = <T>(all: readonly T[], key: (one: T) => string) =>
  all
    .map((one) => [hash(key(one)).toString('hex'), one] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, one]) => one)

/** The tools of a corpus beside those of a set, up to `count` in all; what says the same as one that is there is left out. */
export function among(set: BenchSet, corpora: readonly Corpus[], count: number): BenchSet {
  const key = ({ name, description = '' }: BenchTool) => `${name}\n${description.trim().toLowerCase()}`
  const known = new Set(set.tools.map(key))
  const others = corpora.flatMap(({ tools }) => tools).filter((tool) => !known.has(key(tool)))
  const tools = [...set.tools, ...others].slice(0, Math.max(count, set.tools.length))
  return { ...set, tools }
}

/** At most so many of the reported queries, by hash. */
export const sample = (set: BenchSet, most: number): BenchSet => ({
  ...set,
  reported: set.reported.length <= most ? set.reported : byHash(set.reported, ({ query }) => query).slice(0, most),
})

/** Up to `count` examples a tool, from the half for tuning; none says what a reported query says. */
export function withExamples(set: BenchSet, count: number): BenchSet {
  const plain = (text: string) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, ' ')
      .trim()
  const reported = new Set(set.reported.map(({ query }) => plain(query)))
  const examples = new Map<string, string[]>()
  for (const { query, groups } of byHash(set.tuning, (one) => `example ${one.query}`)) {
    if (reported.has(plain(query))) continue
    for (const id of groups.flat()) {
      const known = examples.get(id) ?? []
      if (known.length < count) examples.set(id, [...known, query])
    }
  }
  return { ...set, tools: set.tools.map((tool) => ({ ...tool, examples: examples.get(tool.id) ?? [] })) }
}

/** Whether the half for tuning has enough queries to give each tool some. */
export const hasExamples = ({ tuning, tools }: BenchSet) => tuning.length >= 5 * tools.length
