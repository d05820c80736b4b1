/** `run_code`: programs as one tool for any model. Only what the program returns reaches the model. */
import type { CallOutcome } from '../calls/call.ts'
import { ownEntry } from '../loadout/own-entry.ts'
import type { RunView } from '../schema/run.ts'
import type { ToolManifest } from '../schema/tool.ts'

/** As a model gets it. */
export const RUN_CODE: ToolManifest = {
  name: 'run_code',
  description:
    'Runs a program (JavaScript or TypeScript) in which tools are async functions: `await github.list_issues({ state: "open" })`. Loop, filter and combine as you like; only what you `return` comes back. `await search("what you want")` finds tools, `await describe("github.list_issues")` tells how to call one.',
  inputSchema: {
    type: 'object',
    properties: {
      program: { type: 'string', description: 'The body of an async function' },
      language: { enum: ['javascript', 'typescript'] },
    },
    required: ['program'],
    additionalProperties: false,
  },
}

/** A program starts no other. */
export const RUN_CODE_ENTRY = {
  ...ownEntry(RUN_CODE, 'The host gives it: there are tools that programs may call.'),
  allowedCallers: ['direct' as const],
}

const LAST_LINES = 20

/** What a model reads of a run. */
export function outcomeOf(run: RunView): CallOutcome {
  const about = { runId: run.id, status: run.status }
  if (run.status === 'completed') {
    const { output } = run
    const text = typeof output === 'string' ? output : JSON.stringify(output)
    return { status: 'ok', content: [{ type: 'text', text }], structuredContent: { ...about, value: output } }
  }
  const text = [tellOf(run), ...lastWords(run)].join('\n')
  const status = run.status === 'failed' || run.status === 'cancelled' ? 'tool-error' : 'ok'
  return { status, content: [{ type: 'text', text }], structuredContent: about }
}

function tellOf({ id, status, error, steps }: RunView): string {
  if (status === 'paused') {
    const refs = steps.filter((step) => step.status === 'paused').map((step) => (step.request as { ref?: string })?.ref)
    return `The program waits for a person to allow ${refs.join(', ')}. It goes on by itself as run ${id}.`
  }
  if (status === 'outcome-unknown')
    return `Nobody knows what came of a call that was cut off; a person must say how run ${id} goes on.`
  if (status === 'cancelled') return 'The program was cancelled.'
  return error ? `${error.message} ${error.action ?? ''}`.trim() : `The program is ${status} as run ${id}.`
}

const lastWords = ({ logs }: RunView) =>
  logs.length === 0 ? [] : ['It logged last:', ...logs.slice(-LAST_LINES).map(({ text }) => text.slice(0, 500))]
