/**
 * Whether a toolkit is still what answers were remembered for: its server, auth and overrides. A secret that was rotated
 * makes no other toolkit, so values count only where neither their name nor their form is a secret's: a tenant in a header
 * does, a token in one does not. What cannot be told apart counts as a change.
 */

import { canonicalJson } from '../schema/json.ts'
import type { UserServerConfigRow } from '../schema/toolkit/catalog.ts'
import type { Server } from '../schema/toolkit/server.ts'
import type { ToolkitOptions } from '../schema/toolkit/toolkit.ts'
import { isSecretName, looksSecret } from './secrets/looks-secret.ts'

type Secrets = Readonly<Record<string, string>>

/** Fields whose every value is kept as a secret, whatever it is. */
const NAMED = /^(?:env|headers|values|auth\.headers)\.(.+)$/s

/** Whether a value that is kept as a secret tells what the server does, not who may use it. */
export function isPublicValue(field: string, value: string | undefined): boolean {
  const name = NAMED.exec(field)?.[1]
  return name !== undefined && value !== undefined && !isSecretName(name) && !looksSecret(value)
}

export const publicValues = (secrets: Secrets): Secrets =>
  Object.fromEntries(Object.entries(secrets).filter(([field, value]) => isPublicValue(field, value)))

/** The record as text. The numbers of placeholders say how often something was stored, and nothing else. */
export const bindingText = (server: unknown, overrides: unknown): string =>
  canonicalJson({ server, overrides }).replace(/\$\{secret:(args|url)\.\d+\}/g, '${secret:$1}')

export interface Rebinding {
  before: UserServerConfigRow
  after: { server: Server; overrides: ToolkitOptions['overrides'] }
  /** Values that are new or sent again, by field, and the stored ones of those fields. */
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

/** Whether the server is the same, whatever stands in its secrets. */
export const isSameServer = (before: unknown, after: unknown): boolean =>
  bindingText(before, null) === bindingText(after, null)
