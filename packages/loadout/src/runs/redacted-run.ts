/** Redacted, size-limited view of a run's input and step outputs. */
import { redactArguments } from '../audit/redact/redact-arguments.ts'
import type { Json, JsonObject } from '../schema/json.ts'
import type { RunRow, RunView, StepRow } from '../schema/records/run.ts'
import type { WorkflowDefinition } from '../schema/records/workflow.ts'

/** Stored input of a run, by kind. */
interface StoredInput {
  program?: string
  definition?: WorkflowDefinition
  workflow?: { id: string; version: number }
  input?: Json
}

const storedInput = ({ inputJson }: RunRow) => inputJson as StoredInput

export function workflowOf(row: RunRow): Pick<RunView, 'workflow'> {
  const { definition, workflow } = storedInput(row)
  return row.kind === 'workflow' && definition ? { workflow: { name: definition.name, ...workflow } } : {}
}

/** Only in single-run views: too long for lists. */
export function beginningOf(row: RunRow): Pick<RunView, 'input' | 'definition' | 'program'> {
  const { program, definition, input } = storedInput(row)
  return {
    ...(input === undefined || input === null ? {} : { input: withoutSecrets(input, definition?.input) }),
    ...(row.kind === 'workflow' && definition ? { definition } : {}),
    ...(row.kind === 'program' && typeof program === 'string' ? { program } : {}),
  }
}

function withoutSecrets(input: Json, schema: JsonObject | undefined): Json {
  const args = { input: input as JsonObject }
  return redactArguments(args, { schema: { type: 'object', properties: { input: schema ?? {} } }, whole: true }).input
}

/** Max characters of one step's output and of all outputs. */
const MAX_OF_ONE = 16_000
const MAX_OF_ALL = 1_000_000

/** Returns each step's output while the total limit lasts. */
export function outputs(): (step: StepRow) => { output?: Json; cut?: true } {
  let left = MAX_OF_ALL
  return (step) => {
    if (step.status !== 'completed' || step.kind === 'names') return {}
    const { result } = (step.resultJson ?? {}) as { result?: { value?: Json } }
    const value = outputValue(step, result?.value)
    if (value === undefined) return {}
    const text = JSON.stringify(value) ?? 'null'
    const limit = Math.min(MAX_OF_ONE, left)
    left -= Math.min(text.length, limit)
    if (text.length <= limit) return { output: value }
    return limit === 0 ? { cut: true } : { output: text.slice(0, limit), cut: true }
  }
}

/** A code step stores its value beside its logs. */
function outputValue({ kind }: StepRow, value: Json): Json {
  const isProgram = kind === 'code' && typeof value === 'object' && value !== null && 'logs' in value
  return isProgram ? (value as { value?: Json }).value : value
}
