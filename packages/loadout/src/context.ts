/**
 * The execution context: the small immutable record that travels with one invocation.
 * Nothing here is ambient. `@loadout/core/node` adds AsyncLocalStorage on top of it; elsewhere the context is passed.
 */
import { type FieldError, HostError } from './errors.ts'
import { type ExecutionContext, type ExecutionContextInput, executionContext } from './schema/execution-context.ts'
import { slugFrom } from './schema/ids.ts'
import { assertPlainJson, invalidFields, parse } from './schema/json.ts'
import { readToolkit } from './schema/read/read-toolkit.ts'
import type { Toolkit } from './schema/toolkit/toolkit.ts'
import { contextSecrets, hideSecrets } from './toolkits/secrets/context-secrets.ts'

export type { ExecutionContext, ExecutionContextInput }

/** Runs `work` so that a context is found in all that it starts; with none, so that none is. */
export type RunInContext = <T>(context: ExecutionContext | undefined, work: () => T) => T

/** Where nothing is ambient. */
export const withoutContext: RunInContext = (_, work) => work()

/** What a caller may write: toolkits in any spelling that the reader knows, also under `mcp` as in source 000. */
export interface ExecutionContextSource {
  principal: ExecutionContextInput['principal']
  scope?: ExecutionContextInput['scope']
  toolkits?: Record<string, unknown>
  mcp?: { toolkits?: Record<string, unknown> }
  secrets?: ExecutionContextInput['secrets']
  /** As `secrets`; source 000 has them apart. */
  apiKeys?: ExecutionContextInput['secrets']
  /** Rules of this invocation alone. They only tighten. */
  rules?: ExecutionContextInput['rules']
  runId?: string
  workflowVersionId?: string
  signal?: AbortSignal
}

/** Validate and freeze. Throws `invalid-input` with the place of every error. */
export function createExecutionContext(source: ExecutionContextSource): ExecutionContext {
  const { mcp, toolkits = mcp?.toolkits, apiKeys, secrets, ...rest } = (source ?? {}) as ExecutionContextSource
  // The scope is the principal's own; a user need not be named twice.
  const scope = { userId: rest.principal?.userId, ...rest.scope }
  const read = readToolkits(toolkits ?? {})
  const context = parse(executionContext, { ...rest, scope, secrets: { ...apiKeys, ...secrets }, ...read })
  return freezeDeep({ ...context, toolkits: hideToolkitSecrets(context.toolkits, toolkits ?? {}) })
}

/** Those of a record that another context carried go along with it. */
function hideToolkitSecrets(
  toolkits: Record<string, Toolkit>,
  records: Record<string, unknown>,
): Record<string, Toolkit> {
  const before = Object.values(records).map((record) => contextSecrets(record as Toolkit))
  return Object.fromEntries(
    Object.entries(toolkits).map(([id, toolkit], index) => [id, hideSecrets(toolkit, before[index])]),
  )
}

/** Run `work` with a context that is passed, not ambient. The form for browsers and for explicit code. */
export function withExecutionContext<T>(source: ExecutionContextSource, work: (context: ExecutionContext) => T): T {
  return work(createExecutionContext(source))
}

const MAX_WARNINGS = 50

/** By the key that the caller chose: it makes the id, and is the name where the record has none. */
function readToolkits(input: Record<string, unknown>): Pick<ExecutionContext, 'toolkits' | 'warnings'> {
  assertPlainJson(input)
  const toolkits: Record<string, Toolkit> = {}
  const problems: FieldError[] = []
  const warnings: string[] = []
  // What is frozen later must not be the caller's own.
  for (const [key, record] of Object.entries(cloneInput(input))) {
    try {
      const id = slugFrom(key) || key
      if (Object.hasOwn(toolkits, id)) throw invalidFields([{ path: 'id', message: `"${id}" is made of two keys` }])
      const { toolkit, warnings: toolkitWarnings } = readToolkit(record, { id, name: key })
      toolkits[id] = { ...toolkit, id }
      warnings.push(...toolkitWarnings.map((warning) => `The toolkit "${id}": ${warning}.`))
    } catch (error) {
      problems.push(...prefixErrors(`toolkits.${key}`, error))
    }
  }
  if (problems.length > 0) throw invalidFields(problems)
  return { toolkits, ...(warnings.length === 0 ? {} : { warnings: warnings.slice(0, MAX_WARNINGS) }) }
}

function cloneInput<T>(input: T): T {
  try {
    return structuredClone(input)
  } catch {
    throw invalidFields([
      { path: 'toolkits', message: 'must be plain records: functions cannot travel with a context' },
    ])
  }
}

/** What is wrong with one of them; anything else is thrown on. */
function prefixErrors(prefix: string, error: unknown): FieldError[] {
  if (!HostError.is(error) || error.code !== 'invalid-input') throw error
  return (error.errors ?? []).map((field) => ({ ...field, path: `${prefix}.${field.path}` }))
}

function freezeDeep<T>(value: T): T {
  // A signal must stay live to be aborted.
  if (typeof value !== 'object' || value === null || value instanceof AbortSignal) return value
  for (const inner of Object.values(value)) freezeDeep(inner)
  return Object.freeze(value)
}
