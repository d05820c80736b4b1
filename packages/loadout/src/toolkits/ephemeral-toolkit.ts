/**
 * A toolkit that is not stored: from the execution context of an invocation, a local file, or a discovery without
 * registration. It lives in memory, its id is a fingerprint of its record and owner, and its secrets are removed from
 * the record like those of stored toolkits.
 */

import type { Tier } from '../schema/scope.ts'
import type { UserServerConfigRow } from '../schema/toolkit/catalog.ts'
import type { Toolkit } from '../schema/toolkit/toolkit.ts'
import { sha256Hex } from '../util/hash.ts'
import { contextSecrets } from './secrets/context-secrets.ts'
import { fillSecrets, takeSecrets } from './secrets/secrets.ts'
import { type StoredToolkit, toColumns } from './stored-toolkit.ts'

export interface EphemeralOptions {
  userId: string
  /** @default 'call' */
  tier?: Extract<Tier, 'app' | 'call'>
  /** Values of `${secret:NAME}` in the record. */
  secrets?: Readonly<Record<string, string>>
  /** Transport built by the app. Called for each connection. */
  transport?: (() => unknown) | undefined
}

const EPOCH = new Date(0)

export async function createEphemeralToolkit(toolkit: Toolkit, options: EphemeralOptions): Promise<StoredToolkit> {
  const { userId, tier = 'call', secrets = {}, transport } = options
  const filled = fillSecrets(toolkit.server, { ...secrets, ...contextSecrets(toolkit) })
  const taken = takeSecrets(filled, [])
  const record: Toolkit = { ...toolkit, server: taken.server }
  const uscoId = `call_${await sha256Hex(JSON.stringify([userId, tier, { ...toolkit, server: filled }]), 32)}`
  const row: UserServerConfigRow = {
    uscoId,
    userId,
    ...toColumns(record, null),
    introspectionStatus: null,
    introspectionReason: null,
    introspectedAt: null,
    binding: '',
    eraJson: null,
    createdAt: EPOCH,
    updatedAt: EPOCH,
  }
  const ephemeral = { secrets: () => taken.secrets, ...(transport ? { transport } : {}) }
  return { uscoId, userId, tier, toolkit: record, row, enabled: toolkit.enabled, ephemeral }
}
