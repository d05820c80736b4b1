import type { RJSFSchema } from '@rjsf/utils'
import { createContext } from 'react'
import { formatHint } from './format-hint.ts'

/** What the parts of one form know of it. */
export interface FormContext {
  /** What all of it is called. */
  label: string
  idPrefix: string
  /** Told of texts that cannot be read as JSON, so that nobody sends what is not on the screen. */
  onText: (id: string, isReadable: boolean) => void
}

/** The ids of what is said about a control, for `aria-describedby`. */
export function describedBy(id: string, { errors = [], schema, value }: Described) {
  const isFormatTold = errors.length === 0 && formatHint(schema, value)
  const ids = [
    errors.length > 0 && errorsId(id),
    isFormatTold && formatId(id),
    schema.description && describedId(id),
  ].filter(Boolean)
  return ids.length > 0 ? ids.join(' ') : undefined
}

interface Described {
  errors: string[] | undefined
  schema: RJSFSchema
  value?: unknown
}

export const formatId = (id: string): string => `${id}__format`
export const errorsId = (id: string): string => `${id}__error`
export const describedId = (id: string): string => `${id}__description`

/** Whether the items of the list around have places of their own, each with its name. */
export const InTuple = createContext(false)
