/**
 * Stages of the app in the pipeline of a call. A stage can refuse a call, answer it, or change its arguments before they are
 * validated. No stage gets past the policy: arguments are fixed from validation on, and the tool is reached through `next` alone.
 */
import { HostError } from '../errors.ts'
import type { JsonObject } from '../schema/json.ts'
import type { Caller } from '../schema/toolkit/tool.ts'
import { isObject } from '../util/is-object.ts'
import { type CallHandler, type CallOutcome, failed, type ResolvedCall, type ToolCall } from './call.ts'

/** Stages that a stage of the app can stand before or after, in the order of the pipeline. */
export const STAGE_POSITIONS = [
  'pin',
  'loadout',
  'validation',
  'decision',
  'limits',
  'results',
  'mask',
  'output',
  'intent',
] as const
export type StagePosition = (typeof STAGE_POSITIONS)[number]

/** The call that a stage sees. */
export interface StageCall {
  callId: string
  userId: string
  threadId?: string | undefined
  toolkit: string
  tool: string
  /** `toolkit.tool` */
  ref: string
  /** A copy: `next({ arguments })` changes them. */
  arguments: JsonObject
  caller: Caller
  /** True if an approval is prepared and the tool is not called. */
  isPreview: boolean
  /** True if the call continues after an approval: the stage has seen it before. */
  isRestart: boolean
  signal?: AbortSignal | undefined
}

export interface StageSteps {
  /** Continues with the next stage. Arguments can change only before `validation`. */
  next(change?: { arguments: JsonObject }): Promise<CallOutcome>
  /** Ends the call as denied, with a reason for the user and the model. */
  refuse(reason: string): CallOutcome
}

export type CallStage = {
  /** Unique among the stages of the app. */
  name: string
  run(call: StageCall, steps: StageSteps): Promise<CallOutcome> | CallOutcome
} & ({ before: StagePosition; after?: undefined } | { after: StagePosition; before?: undefined })

export interface CallHooks {
  /** Runs when a call is allowed, before its tool is reached. A thrown error ends the call. */
  before?(call: StageCall): Promise<void> | void
  /** Runs after every call, also after a denied or failed one. It cannot change the outcome. */
  after?(call: FinishedCall, outcome: CallOutcome): Promise<void> | void
}

/** A call that ended, perhaps before its tool was found. */
export type FinishedCall = Pick<StageCall, 'callId' | 'userId' | 'threadId' | 'toolkit' | 'tool' | 'caller'>

/** Throws `config-invalid` if the stage cannot be added. */
export function assertStage(stage: CallStage, others: readonly CallStage[]): void {
  const { name, before, after, run } = stage
  const position = before ?? after
  const problem =
    typeof name !== 'string' || name === ''
      ? '`name` must be a text'
      : typeof run !== 'function'
        ? '`run` must be a function'
        : (before === undefined) === (after === undefined)
          ? 'exactly one of `before` and `after` is needed'
          : !STAGE_POSITIONS.some((one) => one === position)
            ? `\`${String(position)}\` is not a position`
            : others.some((other) => other.name === name)
              ? `a stage \`${name}\` exists already`
              : undefined
  if (problem === undefined) return
  throw new HostError('config-invalid', {
    detail: `The stage \`${String(name)}\` cannot be added: ${problem}.`,
    action: `Give a new name, a function \`run\`, and \`before\` or \`after\` one of: ${STAGE_POSITIONS.join(', ')}.`,
  })
}

/** Whether the stage runs before the pipeline's own stage. */
const isBefore = ({ before, after }: CallStage, position: StagePosition) => {
  const at = STAGE_POSITIONS.indexOf(position)
  return before === undefined ? STAGE_POSITIONS.indexOf(after) < at : STAGE_POSITIONS.indexOf(before) <= at
}

/** A preview ends at the decision. */
export const isPreviewed = (stage: CallStage) => isBefore(stage, 'decision')

/** Makes a pipeline stage of a stage of the app. */
export function wrapStage(stage: CallStage, { isPreview, isRestart }: Pick<StageCall, 'isPreview' | 'isRestart'>) {
  return (next: CallHandler<ResolvedCall>): CallHandler<ResolvedCall> =>
    async (call) => {
      let isContinued = false
      const steps: StageSteps = {
        async next(change) {
          if (isContinued) throw misuse(stage, 'called `next` twice', 'Call `next` at most once: the tool runs once.')
          isContinued = true
          if (change === undefined) return next(call)
          if (!isBefore(stage, 'validation'))
            throw misuse(
              stage,
              'changed arguments after their validation',
              "Add the stage with `before: 'validation'`.",
            )
          return next({ ...call, arguments: structuredClone(change.arguments) })
        },
        refuse: (reason) => ({ status: 'denied', error: new HostError('denied', { detail: reason }) }),
      }
      try {
        const outcome: unknown = await stage.run({ ...stageCall(call), isPreview, isRestart }, steps)
        if (!isOutcome(outcome)) throw misuse(stage, 'returned no outcome', 'Return the result of `next` or `refuse`.')
        return outcome
      } catch (error) {
        if (error instanceof HostError) return failed(error)
        const detail = `The stage \`${stage.name}\` of the app failed.`
        return failed(new HostError('internal', { detail, action: 'Correct the stage in the app.', cause: error }))
      }
    }
}

/** Runs `after` of the hooks with each outcome. Errors go to `onError`. */
export function withAfterHooks(hooks: ReadonlySet<CallHooks>, onError: (error: unknown) => void) {
  return (next: CallHandler): CallHandler =>
    async (call) => {
      const outcome = await next(call)
      const { callId, userId, threadId, toolkit, tool, caller } = call
      for (const { after } of hooks)
        try {
          await after?.({ callId, userId, threadId, toolkit, tool, caller }, outcome)
        } catch (error) {
          onError(error)
        }
      return outcome
    }
}

/** A stage that runs `before` of the hooks. */
export const beforeHooksStage = (hooks: ReadonlySet<CallHooks>): CallStage => ({
  name: 'before-call hooks',
  before: 'intent',
  async run(call, { next }) {
    for (const { before } of hooks) await before?.(call)
    return next()
  },
})

function stageCall(call: ToolCall & ResolvedCall): Omit<StageCall, 'isPreview' | 'isRestart'> {
  const { callId, userId, threadId, stored, found, caller, signal } = call
  const [toolkit, tool] = [stored.toolkit.id, found.manifest.name]
  const args = structuredClone(call.arguments)
  return { callId, userId, threadId, toolkit, tool, ref: `${toolkit}.${tool}`, arguments: args, caller, signal }
}

const isOutcome = (outcome: unknown): outcome is CallOutcome =>
  isObject(outcome) && typeof outcome.status === 'string' && ('error' in outcome || Array.isArray(outcome.content))

const misuse = ({ name }: CallStage, problem: string, action: string) =>
  new HostError('config-invalid', { detail: `The stage \`${name}\` of the app ${problem}.`, action })
