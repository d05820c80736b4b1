/**
 * A toolkit that is carried and not stored: by the execution context of one invocation, by a local file, or by a look
 * without registering. It lives in memory, is known by a fingerprint of all it says and of whose it is, and its secrets
 * are out of the record like those of stored ones.
 */

import type { Tier } from '../schema/scope.ts'
import type { UserServerConfigRow } from '../schema/toolkit/catalog.ts'
import type { Toolkit } from '../schema/toolkit/toolkit.ts'
import { contextSecrets } from './secrets/context-secrets.ts'
import { fillSecrets, takeSecrets } from './secrets/secrets.ts'
import { type StoredToolkit, toColumns } from './stored-toolkit.ts'

export interface EphemeralOptions {
  userId: string
  /** @default 'call' */
  tier?: Extract<Tier, 'app' | 'call'>
  /** What `${secret:NAME}` in the record means. */
  secrets?: Readonly<Record<string, string>>
  /** A transport that the app built. Called for each connection. */
  transport?: (() => unknown) | undefined
}

const EPOCH = new Date(0)

export async function createEphemeralToolkit(toolkit: Toolkit, options: EphemeralOptions): Promise<StoredToolkit> {
  const { userId, tier = 'call', secrets = {}, transport } = options
  const filled = fillSecrets(toolkit.server, { ...secrets, ...contextSecrets(toolkit) })
  const taken = takeSecrets(filled, [])
  const record: Toolkit = { ...toolkit, server: taken.server }
  const uscoId = `call_${await fingerprint([userId, tier, { ...toolkit, server: filled }])}`
  const row: UserServerConfigRow = {
    uscoId,
    userId,
    ...toColumns(record, null),
    introspectionStatus: null,
    introspectionReason: null,
    introspectedAt: null,
    binding: '',
    createdAt: EPOCH,
    updatedAt: EPOCH,
  }
  const ephemeral = { secrets: () => taken.secrets, ...(transport ? { transport } : {}) }
  return { uscoId, userId, tier, toolkit: record, row, enabled: toolkit.enabled, ephemeral }
}

async function fingerprint(value: unknown): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(value))
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return [...digest.subarray(0, 16)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
