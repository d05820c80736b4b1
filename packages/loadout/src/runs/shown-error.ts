/** The error of a step as people see it: what happened, and what can be done about it. */
import { ERRORS } from '../errors.ts'
import type { Json } from '../schema/json.ts'

export interface ShownError {
  code: string
  message: string
  action?: string
}

/** What it says itself to do comes before what is true of its code. */
export function shownError({ code, message, data }: { code: string; message: string; data?: Json }): ShownError {
  const own = typeof data === 'object' && data !== null && 'action' in data ? data.action : undefined
  const known = Object.hasOwn(ERRORS, code) ? ERRORS[code as keyof typeof ERRORS].action : undefined
  const action = typeof own === 'string' ? own : known
  return { code, message, ...(action === undefined ? {} : { action }) }
}
