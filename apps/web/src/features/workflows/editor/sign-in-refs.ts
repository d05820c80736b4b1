/** Which tools of a run wanted a sign-in: found ahead, or called. */
import type { Run } from '../queries.ts'

interface Said {
  code?: unknown
  ref?: unknown
}

export function signInRefs({ error, steps }: Pick<Run, 'error' | 'steps'>): string[] {
  const ahead = (Array.isArray(error?.problems) ? error.problems : []) as Said[]
  const called = steps.map(({ error: failed, request }): Said => ({ ...(request as Said | null), code: failed?.code }))
  return wanting([...ahead, ...called])
}

export const wanting = (said: readonly Said[]): string[] => [
  ...new Set(said.flatMap(({ code, ref }) => (code === 'sign-in-needed' && typeof ref === 'string' ? [ref] : []))),
]

/** A ref is `toolkit.tool`. */
export const toolkitsOf = (refs: readonly string[]): string[] => [
  ...new Set(refs.map((ref) => ref.slice(0, ref.includes('.') ? ref.indexOf('.') : undefined))),
]
