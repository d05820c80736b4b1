/**
 * Decides whether a toolkit is still the one that grants were saved for: its server, auth and overrides. A rotated
 * secret does not change the binding, so a value counts only when neither its name nor its form is secret: a tenant
 * header counts, a token does not. An undecidable difference counts as a change.
 */

import { canonicalJson } from '../schema/json.ts'
import type { UserServerConfigRow } from '../schema/toolkit/catalog.ts'
import type { Server } from '../schema/toolkit/server.ts'
import type { ToolkitOptions } from '../schema/toolkit/toolkit.ts'
import { isSecretName, looksSecret } from './secrets/looks-secret.ts'

type Secrets = Readonly<Record<string, string>>

/** Fields whose values are all stored as secrets. */
const NAMED = /^(?:env|headers|values|auth\.headers)\.(.+)$/s

/** Whether a stored secret value configures the server and grants no access. */
export function isPublicValue(field: string, value: string | undefined): boolean {
  const name = NAMED.exec(field)?.[1]
  return name !== undefined && value !== undefined && !isSecretName(name) && !looksSecret(value)
}

export const publicValues = (secrets: Secrets): Secrets =>
  Object.fromEntries(Object.entries(secrets).filter(([field, value]) => isPublicValue(field, value)))

/** Canonical text of the record. Placeholder numbers only count writes, so they are removed. */
export const bindingText = (server: unknown, overrides: unknown): string =>
  canonicalJson({ server, overrides }).replace(/\$\{secret:(args|url)\.\d+\}/g, '${secret:$1}')

export interface Rebinding {
  before: UserServerConfigRow
  after: { server: Server; overrides: ToolkitOptions['overrides'] }
  /** New or resent values by field, and the stored values of those fields. */
  submitted: Secrets
  stored: Secrets
}

export function isSameBinding({ before, after, submitted, stored }: Rebinding): boolean {
  const text = bindingText(before.configJson, before.optionsJson.overrides ?? {})
  if (text !== bindingText(after.server, after.overrides)) return false
  return Object.entries(submitted).every(
    ([field, value]) =>
      stored[field] === value || !(isPublicValue(field, value) || isPublicValue(field, stored[field])),
  )
}

/** Whether the server is the same apart from its secrets. */
export const isSameServer = (before: unknown, after: unknown): boolean =>
  bindingText(before, null) === bindingText(after, null)
