/**
 * The chat of a thread, as the stream that the AI SDK's UI reads: text, tool calls, and beside them, as data parts, what was
 * selected and why, what waits for a person, and what it cost. What was said is kept, also of an answer that was given up: the
 * thread is the history, whatever a client sends.
 */

import {
  convertToModelMessages,
  createUIMessageStream,
  createUIMessageStreamResponse,
  dynamicTool,
  jsonSchema,
  type ModelMessage,
  streamText,
  type ToolSet,
  toUIMessageStream,
  type UIMessage,
  type UIMessageStreamWriter,
} from 'ai'
import { toModelOutput } from '../ai/model-output.ts'
import type { NamedCall } from '../calls/call-by-name.ts'
import type { Selection } from '../calls/selection.ts'
import type { Approvals } from '../policy/approvals/approvals.ts'
import { newId } from '../schema/ids.ts'
import type { JsonObject } from '../schema/json.ts'
import type { MessageView, UserPart } from '../schema/records/message.ts'
import type { ResolveOptions } from '../schema/toolkit/selection.ts'
import type { Messages } from '../threads/messages.ts'
import { lastPrompt } from './agent.ts'
import {
  assertTokensLeft,
  describeLimit,
  type GenerationLimits,
  settingsOf,
  stoppedBy,
  usedOf,
} from './agent-settings.ts'
import { modelFailure } from './model-failure.ts'
import type { OpenModel } from './models.ts'
import { selectionData } from './selection-data.ts'
import { type Again, isResponse, startTurn } from './turn.ts'

export interface ChatOptions extends GenerationLimits {
  userId: string
  threadId: string
  /** The thread: what it carries is what the model may call. */
  tools: { resolve(options: ResolveOptions): Promise<Selection> }
  messages: Pick<Messages, 'add' | 'list'>
  approvals: Pick<Approvals, 'get'>
  model: OpenModel
  /** What the user says. */
  said?: readonly UserPart[] | undefined
  /** The last answer is asked for again, as the SDK's `regenerate-message` does: another takes its place. */
  again?: Again | undefined
  system?: string | undefined
  resolve?: Omit<ResolveOptions, 'prompt' | 'history' | 'model'> | undefined
  /** Who asks went away: what is under way is given up. */
  signal?: AbortSignal | undefined
}

const KEEP_ALIVE_MS = 15_000

/** What is refused before it begins is thrown; what goes wrong later is told in the stream. */
export async function streamChat(options: ChatOptions): Promise<Response> {
  const { userId, threadId, messages } = options
  await assertTokensLeft(options.model.tokens)
  const { conversation, instead } = await startTurn(options)
  const heard = await modelMessages(conversation)
  const { prompt, history } = lastPrompt(heard)
  const selection = await options.tools.resolve({ ...options.resolve, prompt, history, model: options.model.name })
  const gone = new AbortController()
  const signal = options.signal ? AbortSignal.any([gone.signal, options.signal]) : gone.signal
  const stream = createUIMessageStream({
    originalMessages: conversation.map(uiMessage),
    generateId: () => newId('message'),
    execute: ({ writer }) => answer({ ...options, heard, selection, signal }, writer),
    onError: (error) => modelFailure(error, options.model).line,
    async onEnd({ responseMessage: { id, parts, metadata } }) {
      // An answer is not given away for none.
      if (parts.length === 0 || (instead.length > 0 && !isResponse(parts))) return
      const kept = { id, role: 'assistant' as const, parts: parts as unknown as JsonObject[] }
      const whole = { ...kept, metadata: metadata as JsonObject | undefined, instead }
      // A thread that was deleted meanwhile keeps nothing.
      await messages.add(userId, threadId, whole).catch(() => {})
    },
  })
  return createUIMessageStreamResponse({
    stream: drained(stream, () => gone.abort()),
    keepAliveMs: KEEP_ALIVE_MS,
  })
}

interface Answering extends ChatOptions {
  heard: ModelMessage[]
  selection: Selection
  signal: AbortSignal
}

async function answer(options: Answering, writer: UIMessageStreamWriter): Promise<void> {
  const { model, heard, selection, signal } = options
  const watched = withApprovals(options, writer)
  writer.write({ type: 'start' })
  const { settings, warnings, lostIn } = settingsOf({
    ...options,
    ceiling: model.ceiling,
    model: model.model,
    tokens: model.tokens,
    messages: heard,
    selection: watched.selection,
    signal,
    form: { onPending: watched.onPending },
    onStep: () => {
      const shown = selection.next()
      const data = selectionData(shown, { warnings, lost: lostIn(shown) })
      writer.write({ type: 'data-selection', id: 'selection', data })
    },
  })
  const result = streamText({ ...settings, onError: () => {} })
  writer.merge(
    toUIMessageStream({
      stream: result.stream,
      tools: settings.tools,
      sendStart: false,
      onError: (error) => modelFailure(error, model).line,
      messageMetadata: ({ part }) =>
        part.type === 'finish' ? { model: model.name, usage: usedOf(part.totalUsage) } : undefined,
    }),
  )
  // What was given up has no numbers.
  const [usage, steps] = await Promise.all([result.usage, result.steps]).catch(() => [])
  if (!usage || !steps) return
  const { before, after } = selection.next().tokens
  const { reached } = (await model.tokens?.state()) ?? {}
  const limits = { ...options, ceiling: model.ceiling }
  const stopped = stoppedBy(steps, { ...limits, reached })
  const told = describeLimit(stopped, limits, 'The answer')
  const limit = told ? `${told.detail} ${told.action}` : stopped === 'limit' ? reached?.message : undefined
  const data = {
    ...usedOf(usage),
    steps: steps.length,
    stopped,
    tools: { before, after },
    ...(limit === undefined ? {} : { limit }),
  }
  writer.write({ type: 'data-usage', id: 'usage', data })
}

/** Tells what waits for a person when it does, and again when that is over. */
function withApprovals({ userId, selection, approvals }: Answering, writer: UIMessageStreamWriter) {
  const asked = new Map<string, string>()
  const tell = (toolCallId: string, approval: object & { id: string }) =>
    writer.write({ type: 'data-approval', id: approval.id, data: { toolCallId, approval } })
  return {
    onPending(toolCallId: string, approval: object & { id: string }) {
      asked.set(toolCallId, approval.id)
      tell(toolCallId, approval)
    },
    selection: {
      ...selection,
      async call(call: NamedCall) {
        const outcome = await selection.call(call)
        const id = asked.get(call.id ?? '')
        const approval = id === undefined ? undefined : await approvals.get(userId, id).catch(() => undefined)
        if (approval) tell(call.id ?? '', approval)
        return outcome
      },
    },
  }
}

const uiMessage = ({ id, role, parts, metadata }: MessageView): UIMessage =>
  ({ id, role, parts, ...(metadata ? { metadata } : {}) }) as unknown as UIMessage

/** As a model hears them: results as they were told to it, whether or not their tools are still there. */
function modelMessages(conversation: readonly MessageView[]): Promise<ModelMessage[]> {
  const from = conversation.findIndex(({ role }) => role === 'user')
  const names = conversation.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === 'dynamic-tool' && typeof part.toolName === 'string' ? [part.toolName] : [])),
  )
  const told = dynamicTool({ inputSchema: jsonSchema({}), execute: async () => null, toModelOutput })
  const tools: ToolSet = Object.fromEntries(names.map((name) => [name, told]))
  return convertToModelMessages(conversation.slice(from).map(uiMessage), { tools, ignoreIncompleteToolCalls: true })
}

/** A stream that is read to its end also where who asked for it went away: then it is told, and what is left goes nowhere. */
export function drained<T>(stream: ReadableStream<T>, onGone: () => void): ReadableStream<T> {
  const reader = stream.getReader()
  let isGone = false
  const pump = async (controller: ReadableStreamDefaultController<T>) => {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      if (!isGone) controller.enqueue(value)
    }
    if (!isGone) controller.close()
  }
  return new ReadableStream<T>({
    start(controller) {
      // Not waited for: a start that lasts keeps what is there from who reads.
      void pump(controller).catch((error: unknown) => {
        if (!isGone) controller.error(error)
      })
    },
    cancel() {
      isGone = true
      onGone()
    },
  })
}
