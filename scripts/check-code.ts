/** Format, lint and types, side by side. `npm run types` checks the types alone. */
import { step } from './step.ts'

/** One checker for each program: more of them check shared types again, and take twice the CPU time. */
const TYPES = ['--noEmit', '--checkers', '1']

export async function checkTypes(): Promise<void> {
  await Promise.all([step('types', 'tsc', TYPES), step('types of the web UI', 'tsc', [...TYPES, '-p', 'apps/web'])])
}

export async function checkCode(): Promise<void> {
  await Promise.all([step('format and lint', 'biome', ['check', '.']), checkTypes()])
}

if (import.meta.main) await checkTypes()
