/** Refs of a run that need a sign-in, from the preflight check or from calls. */
import type { Run } from '../queries.ts'

interface Failure {
  code?: unknown
  ref?: unknown
}

export function signInRefs({ error, steps }: Pick<Run, 'error' | 'steps'>): string[] {
  const ahead = (Array.isArray(error?.problems) ? error.problems : []) as Failure[]
  const called = steps.map(
    ({ error: failed, request }): Failure => ({ ...(request as Failure | null), code: failed?.code }),
  )
  return refsNeedingSignIn([...ahead, ...called])
}

export const refsNeedingSignIn = (failures: readonly Failure[]): string[] => [
  ...new Set(failures.flatMap(({ code, ref }) => (code === 'sign-in-needed' && typeof ref === 'string' ? [ref] : []))),
]

/** Toolkit ids of refs (`toolkit.tool`). */
export const toolkitsOf = (refs: readonly string[]): string[] => [
  ...new Set(refs.map((ref) => ref.slice(0, ref.includes('.') ? ref.indexOf('.') : undefined))),
]
