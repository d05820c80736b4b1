import { toast } from 'sonner'
import { problemOf } from '../../api.ts'
import { problemWords } from './problem-words.ts'

/** For what was asked for and has no place on the page to say that it failed. */
export function toastProblem(error: unknown): void {
  const { title, detail, action } = problemWords(problemOf(error))
  toast.error(title, { description: title === detail ? action : `${detail} ${action}` })
}
