/** Custom toolkits: what they are held against when they are saved, what runs their code, and a try of them. */
import type { FetchLike } from '@modelcontextprotocol/client'
import type { Calls } from './calls/calls.ts'
import type { RunCode } from './calls/run-function.ts'
import { type Trial, type TrialInput, type TrialScope, tryTool } from './calls/try-tool.ts'
import type { Catalog } from './catalog/catalog.ts'
import type { CustomCheck } from './code-mode/check-custom.ts'
import { createCustomCode } from './code-mode/custom-code.ts'
import type { CredentialStore } from './credentials/credential-store.ts'
import type { HostOptions } from './host-options.ts'
import type { Loadouts } from './loadout/loadouts.ts'
import type { Tier } from './schema/scope.ts'
import type { AppConfigStore } from './toolkits/app-config.ts'
import type { Registry } from './toolkits/registry.ts'

export interface CustomParts {
  app: AppConfigStore
  credentials: CredentialStore
  registry: Registry
  catalog: Catalog
  loadouts: Loadouts
  calls: Calls
  fetchFor(tier: Tier): FetchLike
  check: CustomCheck
}

export interface Custom {
  /** Missing where the host runs no code. */
  runCode: RunCode | undefined
  tryTool(scope: TrialScope, given: TrialInput): Promise<Trial>
}

export function createCustom(parts: CustomParts, { executor, programs }: HostOptions): Custom {
  const { app, credentials, registry, catalog, loadouts, calls, fetchFor, check } = parts
  const secrets = (owner: { userId: string; toolkit: string }) => credentials.open(owner)
  return {
    runCode:
      executor &&
      createCustomCode({
        executor,
        limits: { ...executor?.limits, ...programs?.limits },
        calls,
        app,
        secrets,
        loadouts,
        catalog,
        send: fetchFor('user'),
      }),
    tryTool: (scope, given) => tryTool({ calls, registry, check, secrets }, scope, given),
  }
}
