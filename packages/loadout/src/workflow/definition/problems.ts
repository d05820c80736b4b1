/** Collects distinct problems of a definition, up to a limit. */
import type { FieldError } from '../../errors.ts'

export const MAX_PROBLEMS = 200

/** Keeps one problem above the limit to signal that there are more. */
export function addProblems(problems: FieldError[], found: Iterable<FieldError>): void {
  for (const problem of found) {
    if (problems.length > MAX_PROBLEMS) return
    if (!problems.some(({ path, message }) => path === problem.path && message === problem.message))
      problems.push(problem)
  }
}
