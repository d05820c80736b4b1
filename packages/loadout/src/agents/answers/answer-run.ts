/**
 * Executes one answer as a run. Model replies and tool calls are steps, so a resumed answer repeats no completed call.
 * When a call needs an approval, the run pauses and holds nothing; the answer to the request wakes it in any process.
 */
import { streamText, toUIMessageStream, wrapLanguageModel } from 'ai'
import { redactArguments } from '../../audit/redact/redact-arguments.ts'
import type { CallOutcome } from '../../calls/call.ts'
import { isRepeatable } from '../../calls/call.ts'
import type { NamedCall } from '../../calls/call-by-name.ts'
import { outcomeFromJson, outcomeToJson } from '../../calls/records/outcome-json.ts'
import type { Selection } from '../../calls/selection.ts'
import { HostError } from '../../errors.ts'
import type { ActiveRun, RunEnd, StepOutcome, StepResult, Suspended } from '../../runs/engine.ts'
import { type Json, type JsonObject, jsonObject } from '../../schema/json.ts'
import type { ApprovalView } from '../../schema/records/approval.ts'
import type { MessageView } from '../../schema/records/message.ts'
import type { ResolveOptions } from '../../schema/toolkit/selection.ts'
import { sleep } from '../../util/abort.ts'
import { stepKeyOf } from '../../workflow/run/node-context.ts'
import { lastPrompt } from '../agent.ts'
import { settingsOf, usedOf } from '../agent-settings.ts'
import { modelMessages, usageData } from '../chat.ts'
import { modelFailure } from '../model-failure.ts'
import type { OpenModel } from '../models.ts'
import { selectionData } from '../selection-data.ts'
import { PartWriter } from './part-writer.ts'
import { recordStreams, replyPath } from './recorded-model.ts'
import type { AnswerServices, StoredAnswer } from './stored-answer.ts'

const MAX_HISTORY = 60
/** Later messages of the thread do not belong to the conversation of a resumed answer. */
const MAX_LATER = 40
const BUILT_IN = new Set(['search_tools', 'read_result'])

export class AnswerRun {
  readonly #services: AnswerServices
  readonly #run: ActiveRun
  readonly #input: StoredAnswer
  readonly #writer: PartWriter
  readonly #stop = new AbortController()
  /** Resolves when a step suspends the run. */
  readonly #suspension = Promise.withResolvers<RunEnd>()
  /** Number of calls per path. */
  readonly #paths = new Map<string, number>()
  readonly #approvals = new Map<string, string>()
  #selection: Selection | undefined
  #replies = 0
  #suspended: Suspended | undefined
  #busy = 0

  constructor(services: AnswerServices, run: ActiveRun, input: StoredAnswer) {
    this.#services = services
    this.#run = run
    this.#input = input
    this.#writer = new PartWriter(run.parts, (step) => run.log.has(replyPath(step)))
  }

  async go(model: OpenModel): Promise<RunEnd> {
    await this.#writer.open()
    this.#writer.write({ type: 'start', messageId: this.#input.messageId })
    const end = await Promise.race([this.#stream(model), this.#suspension.promise])
    this.#run.signal.throwIfAborted()
    await this.#writer.flush()
    return end
  }

  /** Reports an error that ended the answer before the model could. */
  async fail(line: string): Promise<void> {
    this.#writer.write({ type: 'error', errorText: line })
    this.#writer.write({ type: 'finish' })
    await this.#writer.flush()
  }

  async #stream(model: OpenModel): Promise<RunEnd> {
    const { userId, threadId = '', runId, signal } = this.#run
    const { system, maxSteps, budget, resolve } = this.#input
    const messages = await modelMessages(await this.#conversation())
    const { prompt, history } = lastPrompt(messages)
    const options: ResolveOptions = { ...resolve, prompt, history, model: model.name }
    const call = (named: NamedCall, invoke: Invoke) => this.#call(named, invoke)
    const selection = await this.#services
      .thread({ userId, threadId }, { mustExist: true })
      .select(options, { runId, call })
    this.#selection = selection
    const middleware = recordStreams(
      this.#run.log,
      (step) => this.#runStep(step),
      (reply) => {
        this.#replies = reply + 1
      },
    )
    const limits = { maxSteps, budget, ceiling: model.ceiling, tokens: model.tokens }
    const { settings, warnings, lostIn } = settingsOf({
      ...limits,
      model: wrapLanguageModel({ model: model.model as never, middleware }),
      messages,
      system,
      selection,
      signal: AbortSignal.any([signal, this.#stop.signal]),
      form: { onPending: (id, approval) => this.#onPending(id, approval) },
      onStep: (step) => {
        if (this.#writer.isStored(step)) return
        const current = selection.next()
        const data = selectionData(current, { warnings, lost: lostIn(current) })
        this.#write({ type: 'data-selection', id: 'selection', data })
      },
    })
    let failure: string | undefined
    const onError = (error: unknown) => {
      failure ??= modelFailure(error, model).line
      return failure
    }
    const result = streamText({ ...settings, onError: () => {} })
    const chunks = toUIMessageStream({
      stream: result.stream,
      tools: settings.tools,
      sendStart: false,
      sendFinish: false,
      onError,
    })
    for await (const chunk of chunks) if (chunk.type !== 'abort') this.#write(chunk)
    if (this.#suspended) return this.#suspension.promise
    signal.throwIfAborted()
    const usage = await usageData(result, { ...limits, model, selection })
    if (usage) this.#write({ type: 'data-usage', id: 'usage', data: usage })
    const total = usage && usedOf({ inputTokens: usage.inputTokens, outputTokens: usage.outputTokens } as never)
    this.#write({ type: 'finish', ...(total ? { messageMetadata: { model: model.name, usage: total } } : {}) })
    if (failure !== undefined) return { status: 'failed', error: new HostError('model-failed', { detail: failure }) }
    return { status: 'completed', output: { messageId: this.#input.messageId } }
  }

  /** Messages up to the one that is answered. */
  async #conversation(): Promise<MessageView[]> {
    const { userId, threadId = '' } = this.#run
    const newest = await this.#services.messages.list(userId, threadId, { limit: MAX_HISTORY + MAX_LATER })
    const at = newest.findIndex(({ id }) => id === this.#input.userMessageId)
    if (at === -1)
      throw new HostError('not-found', {
        detail: 'The message that is answered was deleted.',
        action: 'Send the message again.',
      })
    return newest.slice(at, at + MAX_HISTORY).reverse()
  }

  #write(chunk: object): void {
    if (!this.#suspended) this.#writer.write(jsonObject.parse(JSON.parse(JSON.stringify(chunk))))
  }

  #onPending(toolCallId: string, approval: ApprovalView): void {
    this.#approvals.set(toolCallId, approval.id)
    this.#write({ type: 'data-approval', id: approval.id, data: { toolCallId, approval } })
  }

  async #call(named: NamedCall, invoke: Invoke): Promise<CallOutcome> {
    const { log, signal } = this.#run
    const { id = '', name, arguments: args } = named
    const entry = this.#entryOf(name)
    const key = await stepKeyOf(name, args)
    const repeatable = entry === undefined || BUILT_IN.has(entry.tool) || isRepeatable(entry)
    const schema = entry?.manifest.inputSchema
    const request = { ref: entry?.ref ?? name, arguments: redactArguments(args, schema ? { schema } : {}), id }
    const execute = async (step: { stepId: string; approvalId: string | undefined }) => {
      let pending: ApprovalView | undefined
      const onPending = (approval: ApprovalView) => {
        pending = approval
        this.#onPending(id, approval)
      }
      const { stepId: callId, approvalId } = step
      if (approvalId !== undefined) this.#approvals.set(id, approvalId)
      const outcome = await invoke({ ...named, callId, signal, pauses: { approvalId }, onPending })
      if ('error' in outcome && outcome.error.code === 'approval-pending' && pending)
        return { pause: { approvalId: pending.id, until: new Date(pending.expiresAt) } }
      return { value: outcomeToJson(outcome) } satisfies StepResult
    }
    const path = this.#pathOf(id)
    const isReplayed = log.has(path)
    const { value } = await this.#runStep(() =>
      log.step({ path, key, kind: 'call', repeatable }, { request: request as Json, execute }),
    )
    await this.#writeAnswered(id, isReplayed)
    return outcomeFromJson(value as JsonObject)
  }

  /** Shows the answered state of an approval request. */
  async #writeAnswered(toolCallId: string, isReplayed: boolean): Promise<void> {
    const id = this.#approvals.get(toolCallId)
    if (id === undefined) return
    const approval = await this.#services.approvals.get(this.#run.userId, id).catch(() => undefined)
    if (approval && (!isReplayed || approval.status !== 'pending'))
      this.#write({ type: 'data-approval', id, data: { toolCallId, approval } })
  }

  #entryOf(name: string) {
    const { tools = [], deferred = [] } = this.#selection ?? {}
    const entries = [...tools.map(({ entry }) => entry), ...deferred]
    return entries.find(({ modelName, ref }) => modelName === name || ref === name)
  }

  /** Providers restart call IDs in each reply and may omit them, so a path includes the reply number. */
  #pathOf(id: string): string {
    const path = `call:${this.#replies}:${encodeURIComponent(id)}`
    const twins = this.#paths.get(path) ?? 0
    this.#paths.set(path, twins + 1)
    return twins === 0 ? path : `${path}:${twins}`
  }

  /** Runs one step. A suspended step ends the answer after all other running steps finish. */
  async #runStep(step: () => Promise<StepOutcome>): Promise<{ value: Json }> {
    if (this.#suspended) throw new HostError('approval-pending')
    this.#busy++
    let suspended: Suspended
    try {
      const outcome = await step()
      if ('value' in outcome) return outcome
      if ('error' in outcome) throw new HostError('internal', { detail: outcome.error.message })
      suspended = outcome
    } catch (error) {
      // An error of the log itself, such as `run-drift`, ends the run.
      if (HostError.is(error) && error.code === 'run-drift') this.#suspension.reject(error)
      throw error
    } finally {
      this.#busy--
    }
    while (this.#busy > 0 && !this.#run.signal.aborted) await sleep(5, { keepAlive: true })
    if (suspended.suspended === 'outcome-unknown')
      this.#write({ type: 'data-unknown', id: 'unknown', data: { runId: this.#run.runId } })
    await this.#writer.flush()
    this.#suspended = suspended
    this.#writer.close()
    this.#suspension.resolve({ status: suspended.suspended })
    const reason = new HostError('approval-pending')
    this.#stop.abort(reason)
    throw reason
  }
}

type Invoke = (call: NamedCall) => Promise<CallOutcome>
