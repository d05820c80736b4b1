/**
 * The segments that a scope is searched in. Few toolkits have one each. Of many, those that fall together by their name are
 * joined: a toolkit that changes, or that one scope does not have, costs the segment that it is in and no other. The app's are
 * apart from users' own, so that what all have is indexed once. Kept while there is room; built when they are first asked for.
 */
import { LRUCache } from 'lru-cache'
import type { SlicedBuilder } from './index-build.ts'
import type { IndexedToolkit, ToolkitView } from './index-toolkits.ts'
import type { Segment } from './segment.ts'
import type { WordVectors } from './word-vectors.ts'

/** More segments than these are joined: each of them costs a look for each word. */
const MOST_OF_APP = 20
const MOST_OF_OTHERS = 10
/** Tools in all segments that are kept. */
const MOST_TOOLS = 250_000

export class SegmentStore {
  readonly #vectors: WordVectors | undefined
  readonly #builder: SlicedBuilder
  readonly #kept = new LRUCache<string, Segment>({
    maxSize: MOST_TOOLS,
    sizeCalculation: ({ tools }) => tools.length + 1,
  })
  readonly #building = new Map<string, Promise<Segment>>()

  constructor(vectors: WordVectors | undefined, builder: SlicedBuilder) {
    this.#vectors = vectors
    this.#builder = builder
  }

  /** How many are kept, and how many tools are in them. */
  get size(): { segments: number; tools: number } {
    return {
      segments: this.#kept.size,
      tools: [...this.#kept.values()].reduce((sum, one) => sum + one.tools.length, 0),
    }
  }

  /** In an order that depends on nothing but the toolkits. At once where all are there. */
  of(views: Iterable<ToolkitView>): readonly Segment[] | Promise<Segment[]> {
    const [app, others]: [IndexedToolkit[], IndexedToolkit[]] = [[], []]
    for (const { indexed, isApp } of views) (isApp ? app : others).push(indexed)
    const found = [...joined(app, MOST_OF_APP), ...joined(others, MOST_OF_OTHERS)].map((group) => this.#segment(group))
    return found.some((one) => one instanceof Promise) ? Promise.all(found) : (found as Segment[])
  }

  #segment(toolkits: readonly IndexedToolkit[]): Segment | Promise<Segment> {
    const key = toolkits.map(({ number }) => number).join()
    return this.#kept.get(key) ?? this.#building.get(key) ?? this.#build(key, toolkits)
  }

  #build(key: string, toolkits: readonly IndexedToolkit[]): Promise<Segment> {
    const tools = toolkits.flatMap((one) => one.tools)
    const building = this.#builder
      .build(tools, this.#vectors)
      .then((segment) => {
        this.#kept.set(key, segment)
        return segment
      })
      .finally(() => this.#building.delete(key))
    this.#building.set(key, building)
    return building
  }
}

function joined(toolkits: IndexedToolkit[], most: number): Array<readonly IndexedToolkit[]> {
  // By their keys, so that the order in which a scope has them makes no other segment.
  const ordered = toolkits.sort((a, b) => (a.key < b.key ? -1 : 1))
  if (ordered.length <= most) return ordered.map((one) => [one])
  return [...Map.groupBy(ordered, ({ key }) => placeOf(key, most)).entries()]
    .sort(([a], [b]) => a - b)
    .map(([, group]) => group)
}

/** FNV-1a: the same in every process. */
function placeOf(key: string, places: number): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193)
  return (hash >>> 0) % places
}
