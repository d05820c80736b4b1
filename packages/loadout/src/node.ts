/** Node entry: the ambient execution context, key rings, file journals and local file sources. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Invocation } from './calls/invocation.ts'
import {
  createExecutionContext,
  type ExecutionContext,
  type ExecutionContextSource,
  type RunInContext,
} from './context.ts'
import { HostError } from './errors.ts'
import type { HostServices } from './host/create-services.ts'
import { type HostLike, toServices } from './host/to-services.ts'
import type { SetupOptions } from './loadout/setup/setup-toolkits.ts'

export { type FileJournalOptions, fileJournal } from './audit/journal/file-journal.ts'
export { type TypedToolkit, toolTypes } from './code-mode/declarations/tool-types.ts'
export { createGuardedFetch, type GuardOptions } from './connections/http/guard/guarded-fetch.ts'
export { type NodeDriverOptions, nodeDrivers } from './connections/node-drivers.ts'
export type { SandboxLimits } from './connections/sandbox/limits.ts'
export type { SandboxOptions } from './connections/sandbox/sandbox.ts'
export { addKey, keyFileRing } from './credentials/key-file.ts'
export { folderHolder } from './storage/folder-lock.ts'
export { type FileSourceOptions, fileSource } from './toolkits/sources/file-source.ts'
export { type LocalFilesOptions, localFiles } from './toolkits/sources/local-files.ts'

// The only ambient state: the invocation of the current asynchronous work.
const ambient = new AsyncLocalStorage<ExecutionContext | undefined>()

/** Runs `work` under a validated, frozen context; `getExecutionContext()` returns it in everything that work starts. */
export function withExecutionContext<T>(source: ExecutionContextSource, work: (context: ExecutionContext) => T): T {
  const context = createExecutionContext(source)
  return ambient.run(context, () => work(context))
}

export function getExecutionContext(): ExecutionContext | undefined {
  return ambient.getStore()
}

/**
 * `runtime: { runInContext: ambientContext }`: code that a workflow or an invocation calls gets its context from
 * `getExecutionContext()`.
 */
export const ambientContext: RunInContext = (context, work) => ambient.run(context, work)

/**
 * Sets up a session with the ambient context as default.
 * @example await using session = await setupToolkits(host, ['github'])
 */
export function setupToolkits(
  host: HostLike<Pick<HostServices, 'setupToolkits'>>,
  names: readonly string[] | undefined,
  options: Partial<SetupOptions> = {},
): Promise<Invocation> {
  const context = options.context ?? getExecutionContext()
  if (!context)
    throw new HostError('invalid-input', {
      detail: 'There is no execution context here.',
      action: 'Call it inside withExecutionContext(…), or give it a context.',
    })
  return toServices(host).setupToolkits(names, { ...options, context })
}
export { wordVectors } from './search/vectors/read-vectors.ts'
