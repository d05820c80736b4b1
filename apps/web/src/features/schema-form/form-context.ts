import type { RJSFSchema } from '@rjsf/utils'
import { createContext } from 'react'
import { formatHint } from './format-hint.ts'

/** Shared context of one form. */
export interface FormContext {
  /** Label of the form. */
  label: string
  idPrefix: string
  /** Reports whether a JSON text is valid, so that no outdated value is sent. */
  onText: (id: string, isReadable: boolean) => void
}

/** Ids of error and description, for `aria-describedby`. */
export function describedBy(id: string, { errors = [], schema, value }: Described) {
  const hasFormatHint = errors.length === 0 && formatHint(schema, value)
  const ids = [
    errors.length > 0 && errorsId(id),
    hasFormatHint && formatId(id),
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

/** Whether the items of the parent array have their own labels (tuple). */
export const InTuple = createContext(false)
