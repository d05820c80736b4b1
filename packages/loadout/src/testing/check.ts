/** Assertions for contract suites without a test framework, so that a suite runs anywhere. */
import { type ErrorCode, HostError } from '../errors.ts'

export function check(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(message)
}

export function equal(actual: unknown, expected: unknown, message: string): void {
  const a = stable(actual)
  const b = stable(expected)
  if (a !== b) throw new Error(`${message}: expected ${b}, got ${a}`)
}

/** The work must reject with this code. */
export async function rejects(work: Promise<unknown>, code: ErrorCode, message: string): Promise<void> {
  const outcome = await work.then(
    () => 'no error',
    (error: unknown) => (HostError.is(error) ? error.code : `a foreign error (${String(error)})`),
  )
  if (outcome !== code) throw new Error(`${message}: expected ${code}, got ${outcome}`)
}

/** Waits until the condition is true. The deadline only bounds a case that never succeeds. */
export async function eventually(condition: () => boolean, message: string, withinMs = 20_000): Promise<void> {
  const deadline = AbortSignal.timeout(withinMs)
  while (!condition()) {
    if (deadline.aborted) throw new Error(`${message} (not within ${withinMs} ms)`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

// Databases may return keys in another order.
function stable(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}
