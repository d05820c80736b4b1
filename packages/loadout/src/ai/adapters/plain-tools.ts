/**
 * The core of the adapters for agent frameworks: every tool of a selection as a function. A framework gets all tools
 * and shows the model the active ones, which grow when `search_tools` finds more. A call that needs approval waits for
 * its answer.
 */
import type { CallOutcome } from '../../calls/call.ts'
import type { JsonObject } from '../../schema/json.ts'
import type { ApprovalView } from '../../schema/records/approval.ts'
import type { LoadoutEntry } from '../../schema/toolkit/loadout-entry.ts'
import { instructionsFor } from '../instructions.ts'
import { type CallTool, descriptionOf, type ModelSelection } from '../model-call.ts'
import { isFailure, partText, resultParts } from '../result-parts.ts'

/** A selection with its call function. */
export type FrameworkSelection = ModelSelection & { call: CallTool; next?: () => ModelSelection }

export interface FrameworkOptions {
  /** Called when a call waits for approval, with the call's id. */
  onPending?: ((toolCallId: string, approval: ApprovalView) => void) | undefined
}

export interface PlainTool {
  name: string
  description: string
  inputSchema: JsonObject
  /** Never throws for an error of the tool: the text tells the model. */
  call(args: JsonObject, options?: { id?: string | undefined; signal?: AbortSignal | undefined }): Promise<PlainResult>
}

export interface PlainResult {
  text: string
  isError: boolean
  outcome: CallOutcome
}

export interface PlainTools {
  tools: PlainTool[]
  /** Names of the tools that the model sees now, in order. */
  active(): string[]
  /** Tells the model how to find more tools, when there are more. */
  instructions?: string
}

export function plainTools(selection: FrameworkSelection, { onPending }: FrameworkOptions = {}): PlainTools {
  const entries = [...selection.tools.map(({ entry }) => entry), ...selection.deferred]
  return {
    tools: entries.map((entry) => plainTool(entry, { invokeTool: selection.call, onPending })),
    active: () => (selection.next?.() ?? selection).tools.map(({ entry }) => entry.modelName),
    ...instructionsFor(selection.deferred),
  }
}

function plainTool(
  entry: LoadoutEntry,
  { invokeTool, onPending }: FrameworkOptions & { invokeTool: CallTool },
): PlainTool {
  const { modelName: name, manifest } = entry
  return {
    name,
    description: descriptionOf(entry) ?? name,
    inputSchema: manifest.inputSchema,
    async call(args, { id, signal } = {}) {
      const outcome = await invokeTool({
        name,
        arguments: args,
        ...(id === undefined ? {} : { id }),
        ...(signal ? { signal } : {}),
        ...(onPending ? { onPending: (approval) => onPending(id ?? '', approval) } : {}),
      })
      return { text: partText(resultParts(outcome)), isError: isFailure(outcome), outcome }
    },
  }
}
