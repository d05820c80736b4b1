/**
 * The execution context: a small immutable record that is passed with one invocation. Nothing here is ambient;
 * `@loadout/core/node` adds AsyncLocalStorage on top.
 */
import { type FieldError, HostError } from './errors.ts'
import { type ExecutionContext, type ExecutionContextInput, executionContext } from './schema/execution-context.ts'
import { slugFrom } from './schema/ids.ts'
import { assertPlainJson, invalidFields, parse } from './schema/json.ts'
import { readToolkit } from './schema/read/read-toolkit.ts'
import type { Toolkit } from './schema/toolkit/toolkit.ts'
import { contextSecrets, hideSecrets } from './toolkits/secrets/context-secrets.ts'

export type { ExecutionContext, ExecutionContextInput }

/** Runs `work` so that everything it starts finds the context; undefined clears the context. */
export type RunInContext = <T>(context: ExecutionContext | undefined, work: () => T) => T

/** Runs `work` without ambient context. */
export const withoutContext: RunInContext = (_, work) => work()

/** Input of `createExecutionContext`: toolkits in any spelling of the reader, also under `mcp` as in source 000. */
export interface ExecutionContextSource {
  principal: ExecutionContextInput['principal']
  scope?: ExecutionContextInput['scope']
  toolkits?: Record<string, unknown>
  mcp?: { toolkits?: Record<string, unknown> }
  secrets?: ExecutionContextInput['secrets']
  /** Alias of `secrets`; source 000 separates them. */
  apiKeys?: ExecutionContextInput['secrets']
  /** Rules of this invocation. They can only tighten. */
  rules?: ExecutionContextInput['rules']
  runId?: string
  workflowVersionId?: string
  signal?: AbortSignal
}

/** Validates and freezes. Throws `invalid-input` with the path of every error. */
export function createExecutionContext(source: ExecutionContextSource): ExecutionContext {
  const { mcp, toolkits = mcp?.toolkits, apiKeys, secrets, ...rest } = (source ?? {}) as ExecutionContextSource
  // The scope belongs to the principal, so its user is the default.
  const scope = { userId: rest.principal?.userId, ...rest.scope }
  const read = readToolkits(toolkits ?? {})
  const context = parse(executionContext, { ...rest, scope, secrets: { ...apiKeys, ...secrets }, ...read })
  return freezeDeep({ ...context, toolkits: hideToolkitSecrets(context.toolkits, toolkits ?? {}) })
}

/** Secrets that a record already has from another context are preserved. */
function hideToolkitSecrets(
  toolkits: Record<string, Toolkit>,
  records: Record<string, unknown>,
): Record<string, Toolkit> {
  const before = Object.values(records).map((record) => contextSecrets(record as Toolkit))
  return Object.fromEntries(
    Object.entries(toolkits).map(([id, toolkit], index) => [id, hideSecrets(toolkit, before[index])]),
  )
}

/** Runs `work` with an explicit context. For browsers and for code without ambient state. */
export function withExecutionContext<T>(source: ExecutionContextSource, work: (context: ExecutionContext) => T): T {
  return work(createExecutionContext(source))
}

const MAX_WARNINGS = 50

/** The key becomes the id, and the name when the record has none. */
function readToolkits(input: Record<string, unknown>): Pick<ExecutionContext, 'toolkits' | 'warnings'> {
  assertPlainJson(input)
  const toolkits: Record<string, Toolkit> = {}
  const problems: FieldError[] = []
  const warnings: string[] = []
  // The result is frozen, so it must not share objects with the caller's input.
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

/** Field errors of one toolkit, prefixed with its path. Rethrows other errors. */
function prefixErrors(prefix: string, error: unknown): FieldError[] {
  if (!HostError.is(error) || error.code !== 'invalid-input') throw error
  return (error.errors ?? []).map((field) => ({ ...field, path: `${prefix}.${field.path}` }))
}

function freezeDeep<T>(value: T): T {
  // An AbortSignal must not be frozen.
  if (typeof value !== 'object' || value === null || value instanceof AbortSignal) return value
  for (const inner of Object.values(value)) freezeDeep(inner)
  return Object.freeze(value)
}
