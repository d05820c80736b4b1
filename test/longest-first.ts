/** Starts the longest test files first, so that all workers end at about the same time. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { TestSpecification } from 'vitest/node'
import { BaseSequencer } from 'vitest/node'
import { ROOT } from './program-path.ts'

/** Test files that take 10 s or more on two idle cores, the longest first. */
const LONGEST = [
  'test/packages/packages.e2e.test.ts',
  'apps/server/test/servers/own-scenarios.test.ts',
  'apps/web/test/screens-servers.e2e.test.ts',
  'packages/loadout/test/code-mode/quickjs-hostile.test.ts',
  'test/command.e2e.test.ts',
  'apps/web/test/users.e2e.test.ts',
  'apps/web/test/screens-threads.e2e.test.ts',
  'apps/web/test/account.e2e.test.ts',
  'apps/web/test/tools.e2e.test.ts',
  'apps/web/test/threads.e2e.test.ts',
  'packages/loadout/test/calls/processes.pg.test.ts',
  'apps/server/test/security/hostile-stdio.test.ts',
  'apps/web/test/connectors.e2e.test.ts',
  'apps/web/test/screens-operation.e2e.test.ts',
  'packages/loadout/test/connections/faults.test.ts',
  'apps/server/test/runs/restart.e2e.test.ts',
  'apps/web/test/operator.e2e.test.ts',
  'test/start.e2e.test.ts',
  'test/docs.test.ts',
  'packages/loadout/src/code-mode/sandbox/process.test.ts',
  'apps/server/test/security/isolation.pg.test.ts',
  'apps/web/test/oidc.e2e.test.ts',
  'apps/server/src/auth/sign-in.pg.test.ts',
  'apps/web/test/tabs.e2e.test.ts',
  'apps/web/test/approvals.e2e.test.ts',
  'apps/web/test/page-layout.e2e.test.ts',
  'apps/web/test/workflows.e2e.test.ts',
  'apps/web/test/runs.e2e.test.ts',
  'packages/loadout/test/sign-in/processes.pg.test.ts',
  'packages/loadout/test/storage/tenancy.pg.test.ts',
  'apps/web/test/toolkits.e2e.test.ts',
  'apps/web/test/sign-in.e2e.test.ts',
  'apps/server/src/auth/sign-in.test.ts',
  'apps/web/test/custom.e2e.test.ts',
  'apps/server/test/security/isolation.test.ts',
  'apps/server/test/security/planted-secrets.test.ts',
]

export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const gone = LONGEST.filter((path) => !existsSync(join(ROOT, path)))
    if (gone.length > 0) throw new Error(`test/longest-first.ts names files that do not exist: ${gone.join(', ')}`)
    const rank = ({ moduleId }: TestSpecification) => {
      const at = LONGEST.findIndex((path) => moduleId.endsWith(`/${path}`))
      return at < 0 ? LONGEST.length : at
    }
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b))
  }
}
