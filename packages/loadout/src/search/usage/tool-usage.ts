/**
 * Tool usage per user, which improves later searches. Invariants:
 *
 * - Private: only searches of this user read it. It is deleted with the user, the toolkit, or on opt-out.
 * - In the background: recording a use never delays or fails a call.
 * - Bounded: tools per user, examples per tool and characters per example; the oldest are dropped.
 * - Prompts are stored without known secrets.
 */
import { HostError } from '../../errors.ts'
import { cleanText } from '../../schema/clean-text.ts'
import { newId } from '../../schema/ids.ts'
import { MAX_EXAMPLE_LENGTH, MAX_EXAMPLES, type ToolUseRow, type UsedExample } from '../../schema/toolkit/search.ts'
import type { ReadCache, Storage, Transaction } from '../../storage/storage.ts'
import { MASK } from '../../toolkits/secrets/redact.ts'
import { retryOnConflict } from '../../toolkits/toolkit-writer.ts'

/** Usage of one tool by a user. */
export interface ToolUse {
  uscoId: string
  tool: string
  calls: number
  successes: number
  lastUsedAt: number
  /** Ordered, newest last. */
  examples: readonly string[]
}
export type UserUses = readonly ToolUse[]

/** `uscoId`s of toolkits with successful calls, most recent first. */
export function toolkitsByUse(uses: UserUses): string[] {
  const newest = uses.filter(({ successes }) => successes > 0).toSorted((a, b) => b.lastUsedAt - a.lastUsedAt)
  return [...new Set(newest.map(({ uscoId }) => uscoId))]
}

const useKeyOf = (uscoId: string, tool: string) => `${uscoId}\n${tool}`

/** One finished call. */
export interface NotedUse {
  userId: string
  uscoId: string
  tool: string
  succeeded: boolean
  at: Date
  /** Prompt without secrets. Called when the use is written. */
  prompt?: (() => string | Promise<string>) | undefined
}

export interface ToolUsage {
  /** Returns the same object until the usage changes. */
  list(userId: string): Promise<UserUses>
  /** Records a use; written in the background. */
  note(use: NotedUse): void
  /** Drops pending uses of a removed user. */
  forget(userId: string): void
  /** Writes pending uses. */
  flush(): Promise<void>
}

export interface ToolUsageDeps {
  storage: Storage
  cache: ReadCache
  /** Removal time of a user, if removed. */
  goneSince?: ((tx: Transaction, userId: string) => Promise<Date | undefined>) | undefined
  /** @default true */
  enabled?: boolean | undefined
}

const FLUSH_MS = 1000
const MAX_TOOLS = 200
const MAX_PENDING_USERS = 5000
const NO_USES: UserUses = []
/** Tolerance for clock differences between processes. */
const SLACK_MS = 1000

/** Uses of one tool since the last write. */
interface PendingUsage {
  uscoId: string
  tool: string
  uses: NotedUse[]
  calls: number
  successes: number
}

export function createToolUsage(deps: ToolUsageDeps): ToolUsage {
  return deps.enabled === false ? NONE : new StoredUses(deps)
}

const NONE: ToolUsage = { list: async () => NO_USES, note() {}, forget() {}, flush: async () => {} }

class StoredUses implements ToolUsage {
  readonly #deps: ToolUsageDeps
  #pending = new Map<string, Map<string, PendingUsage>>()
  #timer: ReturnType<typeof setTimeout> | undefined
  #writing: Promise<void> = Promise.resolve()

  constructor(deps: ToolUsageDeps) {
    this.#deps = deps
  }

  list(userId: string): Promise<UserUses> {
    const { cache, storage } = this.#deps
    return cache.read({ userId, name: 'tool uses' }, ['toolUses'], async () => {
      const rows = await storage.transaction({ userId }, (tx) => rowsOf(tx, userId))
      return Object.freeze(rows.map(useOf))
    })
  }

  note(use: NotedUse): void {
    const userPending = this.#pending.get(use.userId) ?? new Map<string, PendingUsage>()
    if (userPending.size === 0 && this.#pending.size >= MAX_PENDING_USERS) return
    this.#pending.set(use.userId, userPending)
    const key = useKeyOf(use.uscoId, use.tool)
    const pending = userPending.get(key) ?? { uscoId: use.uscoId, tool: use.tool, uses: [], calls: 0, successes: 0 }
    userPending.set(key, pending)
    pending.calls++
    if (use.succeeded) pending.successes++
    pending.uses.push(use)
    if (pending.uses.length > MAX_EXAMPLES) pending.uses.shift()
    if (this.#timer !== undefined) return
    this.#timer = setTimeout(() => void this.flush(), FLUSH_MS)
    if (typeof this.#timer === 'object' && 'unref' in this.#timer) this.#timer.unref()
  }

  forget(userId: string): void {
    this.#pending.delete(userId)
  }

  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#writing = this.#writing.then(() => this.#writeAll())
    return this.#writing
  }

  async #writeAll(): Promise<void> {
    for (const userId of [...this.#pending.keys()]) {
      const userPending = this.#pending.get(userId)
      this.#pending.delete(userId)
      // Failed writes are dropped: they only affect ranking.
      if (userPending) await this.#write(userId, [...userPending.values()]).catch(() => {})
    }
  }

  async #write(userId: string, pending: readonly PendingUsage[]): Promise<void> {
    const { storage, goneSince } = this.#deps
    const fresh = await Promise.all(
      pending.map(async (entry) => ({ ...entry, examples: await examplesOf(entry.uses) })),
    )
    const ids = await retryOnConflict(() =>
      storage.transaction({ userId }, async (tx) => {
        const removedAt = await goneSince?.(tx, userId)
        if (await isOptedOut(tx)) return []
        const written: string[] = []
        for (const entry of fresh) if (!isBeforeRemoval(entry, removedAt)) written.push(await upsert(tx, userId, entry))
        await makeRoom(tx, userId)
        return written
      }),
    )
    if (!goneSince) return
    // The user may have been removed during the write.
    await storage.transaction({ userId }, async (tx) => {
      const removedAt = await goneSince(tx, userId)
      const late = fresh.some((entry) => isBeforeRemoval(entry, removedAt))
      if (late) for (const id of ids) await tx.delete('toolUses', id)
    })
  }
}

type Fresh = PendingUsage & { examples: UsedExample[] }

const isBeforeRemoval = ({ uses }: PendingUsage, removedAt: Date | undefined) =>
  removedAt !== undefined && (uses[0]?.at.getTime() ?? 0) <= removedAt.getTime() + SLACK_MS

const rowsOf = (tx: Transaction, userId: string) => tx.list('toolUses', { where: { userId }, limit: MAX_TOOLS * 2 })

async function isOptedOut(tx: Transaction): Promise<boolean> {
  return (await tx.get('preferences', 'preferences'))?.valueJson.learnFromUse === false
}

async function upsert(tx: Transaction, userId: string, fresh: Fresh): Promise<string> {
  const { uscoId, tool, calls, successes, examples, uses } = fresh
  const lastUsedAt = uses.at(-1)?.at ?? new Date()
  const [row] = await tx.list('toolUses', { where: { userId, uscoId, tool }, limit: 1 })
  if (!row) {
    const toolUseId = newId('toolUse')
    const examplesJson = withExamples([], examples)
    await tx.insert('toolUses', { toolUseId, userId, uscoId, tool, calls, successes, lastUsedAt, examplesJson })
    return toolUseId
  }
  const set = {
    calls: row.calls + calls,
    successes: row.successes + successes,
    lastUsedAt: new Date(Math.max(lastUsedAt.getTime(), row.lastUsedAt.getTime())),
    examplesJson: withExamples(row.examplesJson, examples),
  }
  // On a conflict with another process `retryOnConflict` retries.
  const changed = await tx.update('toolUses', row.toolUseId, { set, where: { calls: row.calls } })
  if (!changed) throw new HostError('conflict', { detail: 'The use was counted by another process.' })
  return row.toolUseId
}

/** Deletes the longest unused tools. */
async function makeRoom(tx: Transaction, userId: string): Promise<void> {
  const rows = await rowsOf(tx, userId)
  const byUse = rows.sort((a, b) => b.lastUsedAt.getTime() - a.lastUsedAt.getTime())
  for (const row of byUse.slice(MAX_TOOLS)) await tx.delete('toolUses', row.toolUseId)
}

/** Newest last, unique by text, and bounded. */
export function withExamples(existing: readonly UsedExample[], fresh: readonly UsedExample[]): UsedExample[] {
  const byText = new Map<string, UsedExample>()
  for (const example of [...existing, ...fresh]) {
    const text = example.text.toLowerCase()
    byText.delete(text)
    byText.set(text, example)
  }
  return [...byText.values()].slice(-MAX_EXAMPLES)
}

async function examplesOf(uses: readonly NotedUse[]): Promise<UsedExample[]> {
  const texts = await Promise.all(
    uses.map(async ({ succeeded, prompt, at }) => {
      const text = succeeded && prompt ? exampleText(await prompt()) : ''
      return text === '' ? [] : [{ text, at: at.getTime() }]
    }),
  )
  return texts.flat()
}

/** Example from a prompt: one line, truncated, without masked values. */
export function exampleText(prompt: string): string {
  const { text } = cleanText(prompt.toWellFormed().replaceAll(MASK, ' '))
  const line = text.replace(/\s+/g, ' ').trim()
  const cut = line.slice(0, MAX_EXAMPLE_LENGTH).toWellFormed().trim()
  return /[\p{L}\p{N}]{2}/u.test(cut) ? cut : ''
}

const useOf = ({ uscoId, tool, calls, successes, lastUsedAt, examplesJson }: ToolUseRow): ToolUse => ({
  uscoId,
  tool,
  calls,
  successes,
  lastUsedAt: lastUsedAt.getTime(),
  examples: examplesJson.map(({ text }) => text),
})
