/** How a node ends, and what it is given. */
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

/** One attempt of a node: what it gave, why it did not, or that it waits. */
export type Attempt =
  | { value: Json; at?: number | undefined }
  | {
      error: NodeError
      at?: number | undefined
      /** Whether trying again does no more than was asked for. */
      mayRepeat?: boolean | undefined
    }
  | Suspended

export interface NodeEnd {
  status: 'completed' | 'failed' | 'skipped'
  output: Json
  error?: NodeError | undefined
  /** Of one that failed: whether trying again does no more than was asked for. */
  mayRepeat?: boolean | undefined
}

/** Where a node is run: for the workflow, for an item of a map, in place of one that failed, for the second time. */
export interface NodeScope {
  /** Its name in the log. */
  path: string
  values: Values
  /** Which item of its map. */
  item?: number | undefined
  attempt: number
  signal: AbortSignal
}

/** Evaluates a text of a node. A fault is the node's error, with the field that has it. */
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

export const failure = (error: unknown): { error: NodeError } => {
  const { code, message, action } = HostError.from(error)
  return { error: { code, message, data: { action } } }
}

/** What is shown of a step: whose it is, and what else there is to say. */
export function requestOf({ node }: PlannedNode, { item, attempt }: NodeScope, more: JsonObject): JsonObject {
  return { node: node.id, ...(item === undefined ? {} : { item }), ...(attempt === 1 ? {} : { attempt }), ...more }
}
