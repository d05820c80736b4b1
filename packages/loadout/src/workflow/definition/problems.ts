/** Problems of a definition, gathered: each once, and no more of them than anybody reads. */
import type { FieldError } from '../../errors.ts'

export const MAX_PROBLEMS = 200

/** One more is kept than is shown, which tells that there are more. */
export function addProblems(problems: FieldError[], found: Iterable<FieldError>): void {
  for (const problem of found) {
    if (problems.length > MAX_PROBLEMS) return
    if (!problems.some(({ path, message }) => path === problem.path && message === problem.message))
      problems.push(problem)
  }
}
