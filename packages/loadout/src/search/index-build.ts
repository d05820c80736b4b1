/**
 * Builds segments a few milliseconds at a time: however many tools there are, and however many segments are built at once,
 * others have their turn between.
 */
import type { SearchTool } from './search.ts'
import { type Segment, segmentSteps } from './segment.ts'
import type { WordVectors } from './word-vectors.ts'

/** For all that is built at once together. */
const SLICE_MS = 10

export class SlicedBuilder {
  #since = 0
  #underWay = 0
  #turn: Promise<void> | undefined

  async build(tools: readonly SearchTool[], vectors?: WordVectors): Promise<Segment> {
    if (this.#underWay++ === 0) this.#since = performance.now()
    try {
      const steps = segmentSteps(tools, vectors)
      for (let step = steps.next(); ; step = steps.next()) {
        if (step.done) return step.value
        const turn = this.#othersTurn()
        if (turn) await turn
      }
    } finally {
      this.#underWay--
    }
  }

  #othersTurn(): Promise<void> | undefined {
    if (this.#turn || performance.now() - this.#since < SLICE_MS) return this.#turn
    this.#turn = new Promise((resolve) => {
      setTimeout(() => {
        this.#turn = undefined
        this.#since = performance.now()
        resolve()
      }, 0)
    })
    return this.#turn
  }
}
