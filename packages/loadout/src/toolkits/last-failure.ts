/**
 * Stores the last discovery failure of a toolkit as one text: code, reason and, after a separator that no reason
 * contains, the action. Rows without an action use that of the error table.
 */
import { ERRORS, type ErrorCode, type HostError } from '../errors.ts'
import type { UserServerConfigRow } from '../schema/toolkit/catalog.ts'

export interface LastFailure {
  code: ErrorCode
  reason: string
  action: string
}

const SEPARATOR = '\u001e'
const CODE = /^([a-z]+(?:-[a-z]+)*): /

export function failureText({ code, message, action }: HostError): string {
  // A sign-in link is valid for minutes and for one user, so it is not stored.
  const storedAction = URL.canParse(action) ? ERRORS[code].action : action
  return `${code}: ${message.replaceAll(SEPARATOR, ' ')}${SEPARATOR}${storedAction}`
}

type Outcome = Pick<UserServerConfigRow, 'introspectionStatus' | 'introspectionReason'>

export function lastFailureOf({ introspectionStatus, introspectionReason }: Outcome): LastFailure | undefined {
  if (introspectionStatus !== 'error') return undefined
  const [text = '', action] = (introspectionReason ?? '').split(SEPARATOR)
  const codeText = CODE.exec(text)?.[1] ?? ''
  const code = Object.hasOwn(ERRORS, codeText) ? (codeText as ErrorCode) : 'server-unreachable'
  const reason = code === codeText ? text.slice(codeText.length + 2) : text
  return { code, reason: reason || ERRORS[code].title, action: action ?? ERRORS[code].action }
}
