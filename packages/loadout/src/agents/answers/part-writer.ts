/**
 * Writes the UI chunks of an answer to the parts of its run. A resumed answer produces its chunks again from the start:
 * those that are stored are skipped, and the chunks of a model step that broke off are discarded before it is repeated.
 */
import type { RunParts } from '../../runs/engine.ts'
import type { JsonObject } from '../../schema/json.ts'
import { sleep } from '../../util/abort.ts'

/** Readers that saw discarded chunks drop the message and read it again. */
export const RESET: JsonObject = { type: 'data-reset', data: {}, transient: true }

/** Writes less often than models stream. */
const PAUSE_MS = 25
/** Chunks that follow the whole reply of the model, once each. */
const AFTER_REPLY = new Set([
  'tool-input-available',
  'tool-input-error',
  'tool-output-available',
  'tool-output-error',
  'tool-output-denied',
  'finish-step',
])
const ONCE = new Set(['start', 'finish', 'error'])
const DELTAS: Readonly<Record<string, string>> = {
  'text-delta': 'delta',
  'reasoning-delta': 'delta',
  'tool-input-delta': 'inputTextDelta',
}

export class PartWriter {
  readonly #parts: RunParts
  readonly #keys = new Set<string>()
  /** Number of model steps that are stored whole. */
  #whole = 0
  /** First part of a step that broke off. */
  #brokenAt: number | undefined
  #step = -1
  #queue: JsonObject[] = []
  #writing: Promise<void> | undefined
  #isClosed = false

  /** `isRecorded` says whether the log has the whole reply of a model step. */
  constructor(parts: RunParts, isRecorded: (step: number) => boolean) {
    this.#parts = parts
    let step = -1
    let startedAt = 0
    const isWhole = new Set<number>()
    for (const { number, part } of parts.stored) {
      if (part.type === 'start-step') {
        step++
        startedAt = number
      }
      this.#keys.add(keyOf(step, part))
      if (AFTER_REPLY.has(String(part.type))) isWhole.add(step)
    }
    const isBroken = step >= 0 && !(isWhole.has(step) && isRecorded(step))
    this.#whole = isBroken ? step : step + 1
    if (isBroken) this.#brokenAt = startedAt
  }

  /** Discards the chunks of a broken step. */
  async open(): Promise<void> {
    if (this.#brokenAt !== undefined) await this.#parts.discard(this.#brokenAt, RESET)
  }

  /** Whether the chunks of a model step are stored. */
  isStored(step: number): boolean {
    return step < this.#whole
  }

  write(chunk: JsonObject): void {
    if (this.#isClosed) return
    const type = String(chunk.type)
    if (type === 'start-step') this.#step++
    const key = keyOf(this.#step, chunk)
    const isOnce = AFTER_REPLY.has(type) || ONCE.has(type)
    if (isOnce ? this.#keys.has(key) : !type.startsWith('data-') && this.isStored(this.#step)) return
    this.#keys.add(key)
    const last = this.#queue.at(-1)
    const field = DELTAS[type]
    if (last && field && last.type === type && idOf(last) === idOf(chunk))
      this.#queue[this.#queue.length - 1] = { ...last, [field]: `${last[field]}${chunk[field]}` }
    else this.#queue.push(chunk)
    this.#writing ??= this.#drain().finally(() => {
      this.#writing = undefined
    })
    // A failed write aborts the run by itself.
    this.#writing.catch(() => {})
  }

  /** Resolves when all chunks so far are stored. */
  async flush(): Promise<void> {
    while (this.#writing || this.#queue.length > 0) {
      const parts = this.#queue.splice(0)
      if (parts.length > 0) await this.#parts.append(parts)
      await this.#writing
    }
  }

  /** Ignores later chunks. */
  close(): void {
    this.#isClosed = true
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      await sleep(PAUSE_MS, { keepAlive: true })
      const parts = this.#queue.splice(0)
      if (parts.length > 0) await this.#parts.append(parts)
    }
  }
}

const idOf = ({ id, toolCallId }: JsonObject) => id ?? toolCallId

function keyOf(step: number, { type, toolCallId }: JsonObject): string {
  return ONCE.has(String(type)) ? String(type) : `${step} ${type} ${toolCallId ?? ''}`
}
