/** Toolkits of the user that did not work when they were last looked at: what a run needs may work by now, the rest is told. */
import type { Catalog } from '../../catalog/catalog.ts'
import type { Connector } from '../../connections/connector.ts'
import { REDACTED_REASON } from '../../connections/redact-errors.ts'
import type { FailedToolkit } from '../../loadout/setup/setup-toolkits.ts'
import type { StoredToolkit } from '../../toolkits/stored-toolkit.ts'

export interface RetryDeps {
  catalog: Pick<Catalog, 'tools' | 'introspect'>
  connector: Pick<Connector, 'stateOf'>
}

/** What failed once may be connectable now. Where no tool is known, the setup of the run looks anyway. */
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
  // How it went is in the row, where the look ahead reads it.
  await Promise.allSettled(retried.map((stored) => catalog.introspect(stored, userId)))
}

/** Those that no node names: nothing is started for them, what is known is told. */
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
