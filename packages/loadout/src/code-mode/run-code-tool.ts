/**
 * The `run_code` tool runs a program for any model. Only the return value reaches the model. A suspended run is read by
 * its ID, in the thread that started it.
 */
import { z } from 'zod'
import type { BuiltInTool } from '../calls/built-in/built-in-tools.ts'
import type { CallOutcome, ToolCall } from '../calls/call.ts'
import { failed } from '../calls/call.ts'
import { HostError } from '../errors.ts'
import { builtInEntry } from '../loadout/built-in-entry.ts'
import type { Engine } from '../runs/engine.ts'
import { FINISHED, isSuspended, noRun } from '../runs/run-rows.ts'
import { parse } from '../schema/json.ts'
import type { RunView } from '../schema/records/run.ts'
import type { ToolManifest } from '../schema/toolkit/tool.ts'
import type { ProgramScope } from './programs.ts'

/** Manifest for models. */
export const RUN_CODE: ToolManifest = {
  name: 'run_code',
  description:
    'Runs a program (JavaScript or TypeScript) in which tools are async functions: `await github.list_issues({ state: "open" })`. Loop, filter and combine as you like; only what you `return` comes back. `await search("what you want")` finds tools, `await describe("github.list_issues")` tells how to call one. `setTimeout` waits for nothing.',
  inputSchema: {
    type: 'object',
    properties: {
      program: { type: 'string', description: 'The body of an async function' },
      language: { enum: ['javascript', 'typescript'] },
      run: { type: 'string', description: 'In place of a program: a run that had to wait, to read what came of it' },
    },
    additionalProperties: false,
  },
}

/** Programs cannot start programs. */
export const RUN_CODE_ENTRY = {
  ...builtInEntry(RUN_CODE, 'The host gives it: there are tools that programs may call.'),
  allowedCallers: ['direct' as const],
}

const LAST_LINES = 20

export interface RunCodeDeps {
  engine: Pick<Engine, 'get' | 'settled' | 'cancel'>
  /** Runs a program until it finishes or pauses. */
  run(
    scope: ProgramScope,
    input: unknown,
    options: { signal?: AbortSignal | undefined; isInside: boolean },
  ): Promise<RunView>
}

const readInput = z.strictObject({ run: z.string().max(100) })

export function runCodeResult({ engine, run }: RunCodeDeps): BuiltInTool['answer'] {
  const start = async ({
    userId,
    threadId,
    runId,
    arguments: input,
    signal,
    loadout: allowedTools,
    rules,
  }: ToolCall) => {
    // A calling run waits for the program.
    const scope = { userId, threadId, allowedTools, rules }
    const found = await run(scope, input, { signal, isInside: runId !== undefined })
    if (!signal?.aborted || FINISHED.has(found.status)) return programOutcome(found)
    // A cancelled call cancels its program.
    await engine.cancel(userId, found.id)
    return failed(new HostError('cancelled'))
  }
  const read = async ({ userId, threadId, arguments: input, signal }: ToolCall) => {
    const { run: runId } = parse(readInput, input)
    const { kind, threadId: programThreadId } = await engine.get(userId, runId)
    // A model can read only programs of its own thread.
    if (kind !== 'program' || programThreadId !== threadId) throw noRun()
    const found = await engine.settled(userId, runId, { signal })
    return isSuspended(found.status) ? programOutcome(found) : failed(new HostError('cancelled'))
  }
  return async (call) => {
    if (call.caller.type === 'code')
      return failed(new HostError('not-carried', { detail: 'A program starts no other.' }))
    try {
      return await ('run' in call.arguments ? read(call) : start(call))
    } catch (error) {
      return failed(HostError.from(error))
    }
  }
}

/** Outcome of a run for models. */
export function programOutcome(run: RunView): CallOutcome {
  const about = { runId: run.id, status: run.status }
  if (run.status === 'completed') {
    const { output } = run
    const text = typeof output === 'string' ? output : JSON.stringify(output)
    return { status: 'ok', content: [{ type: 'text', text }], structuredContent: { ...about, value: output } }
  }
  const text = [statusMessage(run), ...lastLogs(run)].join('\n')
  const status = run.status === 'failed' || run.status === 'cancelled' ? 'tool-error' : 'ok'
  return { status, content: [{ type: 'text', text }], structuredContent: about }
}

function statusMessage({ id, status, error, steps }: RunView): string {
  if (status === 'paused') {
    const refs = steps.filter((step) => step.status === 'paused').map((step) => (step.request as { ref?: string })?.ref)
    return `The program waits for a person to allow ${refs.join(', ')}, and then goes on by itself. What came of it: ${readBy(id)}.`
  }
  if (status === 'outcome-unknown')
    return `Nobody knows what came of a call that was cut off; a person must say how it goes on. What came of it: ${readBy(id)}.`
  if (status === 'cancelled') return 'The program was cancelled.'
  return error ? `${error.message} ${error.action ?? ''}`.trim() : `The program is ${status} as run ${id}.`
}

const readBy = (id: string) => `run_code({ run: "${id}" })`

const lastLogs = ({ logs }: RunView) =>
  logs.length === 0 ? [] : ['It logged last:', ...logs.slice(-LAST_LINES).map(({ text }) => text.slice(0, 500))]
