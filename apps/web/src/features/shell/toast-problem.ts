import { toast } from 'sonner'
import { problemOf } from '../../api.ts'

/** For what was asked for and has no place on the page to say that it failed. */
export function toastProblem(error: unknown): void {
  const { title, detail, action } = problemOf(error)
  toast.error(title, { description: `${detail} ${action}` })
}
