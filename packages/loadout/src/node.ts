/** What needs Node: the ambient execution context, and key rings from a file or the environment's setting. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { createExecutionContext, type ExecutionContext, type ExecutionContextSource } from './context.ts'

export { createGuardedFetch, type GuardOptions } from './connections/guarded-fetch.ts'
export { type NodeDriverOptions, nodeDrivers } from './connections/node-drivers.ts'
export { addKey, keyFileRing } from './credentials/key-file.ts'
export { folderHolder } from './storage/folder-lock.ts'

// The one thing that is ambient: whose invocation the current asynchronous work belongs to.
const ambient = new AsyncLocalStorage<ExecutionContext>()

/** Run `work` under a validated, frozen context; `getExecutionContext()` finds it in everything that work starts. */
export function withExecutionContext<T>(source: ExecutionContextSource, work: (context: ExecutionContext) => T): T {
  const context = createExecutionContext(source)
  return ambient.run(context, () => work(context))
}

export function getExecutionContext(): ExecutionContext | undefined {
  return ambient.getStore()
}
