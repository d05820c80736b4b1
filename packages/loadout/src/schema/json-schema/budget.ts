/** What bounds the work: everything that takes time in proportion to something from outside pays to a meter. */

/** Units in one step of `maxSteps`: cheap inner work (a regex state, a key listed) costs a part of a keyword check. */
export const STEP = 8

/** What bounded work pays to. */
export interface Meter {
  readonly maxDepth: number
  spend(units: number): void
}

export class Spent extends Error {}
