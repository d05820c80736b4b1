/** Rediscovers failed toolkits that a run needs and lists the failed ones that it does not need. */
import type { Catalog } from '../../catalog/catalog.ts'
import type { Connector } from '../../connections/connector.ts'
import { REDACTED_REASON } from '../../connections/redact-errors.ts'
import type { FailedToolkit } from '../../loadout/setup/setup-toolkits.ts'
import type { StoredToolkit } from '../../toolkits/stored-toolkit.ts'

export interface RetryDeps {
  catalog: Pick<Catalog, 'tools' | 'introspect'>
  connector: Pick<Connector, 'stateOf'>
}

/** Rediscovers failed toolkits. Toolkits without cached tools are discovered by the setup of the run. */
export async function retryFailedToolkits(
  { catalog, connector }: RetryDeps,
  toolkits: readonly StoredToolkit[],
  userId: string,
): Promise<void> {
  const failed = toolkits.filter(
    (stored) => stored.enabled && (isBroken(stored) || connector.stateOf(stored, userId)?.status === 'error'),
  )
  if (failed.length === 0) return
  const toolsByToolkit = await catalog.tools(userId, failed)
  const retried = failed.filter(({ uscoId }) => (toolsByToolkit.get(uscoId) ?? []).length > 0)
  // Results are stored in the row, where preflight reads them.
  await Promise.allSettled(retried.map((stored) => catalog.introspect(stored, userId)))
}

/** Failed toolkits that no node names; reported without a retry. */
export function listFailed(toolkits: readonly StoredToolkit[]): FailedToolkit[] {
  return toolkits
    .filter((stored) => stored.enabled && isBroken(stored))
    .map(({ toolkit: { id }, tier, lastFailure }) => {
      const why = tier === 'app' || !lastFailure ? REDACTED_REASON : `${lastFailure.code}: ${lastFailure.reason}`
      const action = 'Correct the toolkit, or refresh its tools.'
      return { id, code: 'server-unreachable', reason: `The last look at its tools failed: ${why}`, action }
    })
}

const isBroken = ({ row }: StoredToolkit) => row.introspectionStatus === 'error'
