/** Types of a node's result and of its input scope. */
import { HostError } from '../../errors.ts'
import type { Suspended } from '../../runs/engine.ts'
import type { Json, JsonObject } from '../../schema/json.ts'
import type { PlannedNode, TextField } from '../definition/plan.ts'
import type { Values } from '../expressions/evaluate.ts'
import { ExpressionFault } from '../expressions/expression-error.ts'

export interface NodeError {
  code: string
  message: string
  data?: Json | undefined
}

/** One attempt of a node: a value, an error, or a suspension. */
export type Attempt =
  | { value: Json; at?: number | undefined }
  | {
      error: NodeError
      at?: number | undefined
      /** False if a retry could repeat a side effect. */
      mayRepeat?: boolean | undefined
    }
  | Suspended

export interface NodeEnd {
  status: 'completed' | 'failed' | 'skipped'
  output: Json
  error?: NodeError | undefined
  /** Failed nodes only: false if a retry could repeat a side effect. */
  mayRepeat?: boolean | undefined
}

/** Scope of one attempt: top level, map item, error fallback or retry. */
export interface NodeScope {
  /** Path of the step in the log. */
  path: string
  values: Values
  /** Index of the map item. */
  item?: number | undefined
  attempt: number
  signal: AbortSignal
}

/** Evaluates a template field; a fault becomes the node's error with the field name. */
export function render(
  { node, texts }: PlannedNode,
  field: TextField,
  values: Values,
): { value: Json } | { error: NodeError } {
  try {
    return { value: texts[field]?.render(values) ?? null }
  } catch (error) {
    if (!(error instanceof ExpressionFault)) throw error
    return { error: { code: 'expression-failed', message: `Node '${node.id}', ${field}: ${error.message}` } }
  }
}

export const nodeFailure = (error: unknown): { error: NodeError } => {
  const { code, message, action } = HostError.from(error)
  return { error: { code, message, data: { action } } }
}

/** Request of a step as the run view shows it. */
export function nodeRequest({ node }: PlannedNode, { item, attempt }: NodeScope, more: JsonObject): JsonObject {
  return { node: node.id, ...(item === undefined ? {} : { item }), ...(attempt === 1 ? {} : { attempt }), ...more }
}
