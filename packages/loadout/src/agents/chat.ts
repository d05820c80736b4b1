/**
 * Streams the chat of a thread in the AI SDK's UI format: text, tool calls, and data parts for the selection, pending
 * approvals and usage. Messages are stored, also those of a cancelled answer. The thread is the history; messages from
 * the client are ignored.
 */

import {
  convertToModelMessages,
  createUIMessageStream,
  createUIMessageStreamResponse,
  dynamicTool,
  jsonSchema,
  type LanguageModelUsage,
  type ModelMessage,
  type StepResult,
  streamText,
  type ToolSet,
  toUIMessageStream,
  type UIMessage,
  type UIMessageStreamWriter,
} from 'ai'
import { toModelOutput } from '../ai/model-output.ts'
import type { NamedCall } from '../calls/call-by-name.ts'
import type { Selection } from '../calls/selection.ts'
import { type HostLike, toServices } from '../host/to-services.ts'
import type { Approvals } from '../policy/approvals/approvals.ts'
import { newId } from '../schema/ids.ts'
import type { JsonObject } from '../schema/json.ts'
import type { MessageView, UserPart } from '../schema/records/message.ts'
import type { ResolveOptions } from '../schema/toolkit/selection.ts'
import type { ThreadAddress } from '../thread.ts'
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
import { isResponse, type RegenerateRequest, startTurn } from './turn.ts'

/** Parts of a host that a chat uses. */
export interface ChatServices {
  messages: Pick<Messages, 'add' | 'list'>
  approvals: Pick<Approvals, 'get'>
  thread(address: ThreadAddress): ChatTools
}

interface ChatTools {
  select(options: ResolveOptions): Promise<Selection>
}

export interface ChatOptions extends GenerationLimits {
  host: HostLike<ChatServices>
  userId: string
  threadId: string
  /** The model may call its tools. @default the thread */
  tools?: ChatTools | undefined
  model: OpenModel
  /** Parts of the user message. */
  userParts?: readonly UserPart[] | undefined
  /** Regenerates the last answer, as the SDK's `regenerate-message` does. */
  again?: RegenerateRequest | undefined
  system?: string | undefined
  resolve?: Omit<ResolveOptions, 'prompt' | 'history' | 'model'> | undefined
  /** Cancels the answer, for example on disconnect. */
  signal?: AbortSignal | undefined
}

const KEEP_ALIVE_MS = 15_000

/**
 * Streams an answer. Errors before the start are thrown; later errors are part of the stream.
 * @example return streamChat({ host, userId, threadId, model: await models.open(userId), userParts })
 */
export async function streamChat(options: ChatOptions): Promise<Response> {
  const { userId, threadId } = options
  const { messages, approvals, thread } = toServices(options.host)
  const tools = options.tools ?? thread({ userId, threadId })
  await assertTokensLeft(options.model.tokens)
  const { conversation, instead } = await startTurn({ ...options, messages })
  const messagesForModel = await modelMessages(conversation)
  const { prompt, history } = lastPrompt(messagesForModel)
  const selection = await tools.select({ ...options.resolve, prompt, history, model: options.model.name })
  const disconnect = new AbortController()
  const signal = options.signal ? AbortSignal.any([disconnect.signal, options.signal]) : disconnect.signal
  const stream = createUIMessageStream({
    originalMessages: conversation.map(uiMessage),
    generateId: () => newId('message'),
    execute: ({ writer }) => streamAnswer({ ...options, approvals, messagesForModel, selection, signal }, writer),
    onError: (error) => modelFailure(error, options.model).line,
    async onEnd({ responseMessage: { id, parts, metadata } }) {
      // An empty answer does not replace an existing one.
      if (parts.length === 0 || (instead.length > 0 && !isResponse(parts))) return
      const stored = { id, role: 'assistant' as const, parts: parts as unknown as JsonObject[] }
      const message = { ...stored, metadata: metadata as JsonObject | undefined, instead }
      // The thread may have been deleted meanwhile.
      await messages.add(userId, threadId, message).catch(() => {})
    },
  })
  return createUIMessageStreamResponse({
    stream: drained(stream, () => disconnect.abort()),
    keepAliveMs: KEEP_ALIVE_MS,
  })
}

interface ResponseOptions extends ChatOptions {
  approvals: ChatServices['approvals']
  messagesForModel: ModelMessage[]
  selection: Selection
  signal: AbortSignal
}

async function streamAnswer(options: ResponseOptions, writer: UIMessageStreamWriter): Promise<void> {
  const { model, messagesForModel, selection, signal } = options
  const tracked = withApprovals(options, writer)
  writer.write({ type: 'start' })
  const { settings, warnings, lostIn } = settingsOf({
    ...options,
    ceiling: model.ceiling,
    model: model.model,
    tokens: model.tokens,
    messages: messagesForModel,
    selection: tracked.selection,
    signal,
    form: { onPending: tracked.onPending },
    onStep: () => {
      const current = selection.next()
      const data = selectionData(current, { warnings, lost: lostIn(current) })
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
  const data = await usageData(result, options)
  if (data) writer.write({ type: 'data-usage', id: 'usage', data })
}

interface UsageScope extends GenerationLimits {
  model: OpenModel
  selection: Selection
}

/** Data of the usage part; undefined for a cancelled answer. */
export async function usageData(
  result: { usage: PromiseLike<LanguageModelUsage>; steps: PromiseLike<StepResult<ToolSet>[]> },
  options: UsageScope,
): Promise<JsonObject | undefined> {
  const { model, selection } = options
  const [usage, steps] = await Promise.all([result.usage, result.steps]).catch(() => [])
  if (!usage || !steps) return undefined
  const { before, after } = selection.next().tokens
  const { reached } = (await model.tokens?.state()) ?? {}
  const limits = { ...options, ceiling: model.ceiling }
  const stopped = stoppedBy(steps, { ...limits, reached })
  const limitText = describeLimit(stopped, limits, 'The answer')
  const limit = limitText
    ? `${limitText.detail} ${limitText.action}`
    : stopped === 'limit'
      ? reached?.message
      : undefined
  return {
    ...usedOf(usage),
    steps: steps.length,
    stopped,
    tools: { before, after },
    ...(limit === undefined ? {} : { limit }),
  }
}

/** Reports a pending approval when a call starts to wait, and again when it is answered. */
function withApprovals({ userId, selection, approvals }: ResponseOptions, writer: UIMessageStreamWriter) {
  const approvalIds = new Map<string, string>()
  const writeApproval = (toolCallId: string, approval: object & { id: string }) =>
    writer.write({ type: 'data-approval', id: approval.id, data: { toolCallId, approval } })
  return {
    onPending(toolCallId: string, approval: object & { id: string }) {
      approvalIds.set(toolCallId, approval.id)
      writeApproval(toolCallId, approval)
    },
    selection: {
      ...selection,
      async call(call: NamedCall) {
        const outcome = await selection.call(call)
        const id = approvalIds.get(call.id ?? '')
        const approval = id === undefined ? undefined : await approvals.get(userId, id).catch(() => undefined)
        if (approval) writeApproval(call.id ?? '', approval)
        return outcome
      },
    },
  }
}

export const uiMessage = ({ id, role, parts, metadata }: MessageView): UIMessage =>
  ({ id, role, parts, ...(metadata ? { metadata } : {}) }) as unknown as UIMessage

/** Model messages of the conversation: tool results as they were sent, even if the tools are gone. */
export function modelMessages(conversation: readonly MessageView[]): Promise<ModelMessage[]> {
  const from = conversation.findIndex(({ role }) => role === 'user')
  const names = conversation.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === 'dynamic-tool' && typeof part.toolName === 'string' ? [part.toolName] : [])),
  )
  const placeholderTool = dynamicTool({ inputSchema: jsonSchema({}), execute: async () => null, toModelOutput })
  const tools: ToolSet = Object.fromEntries(names.map((name) => [name, placeholderTool]))
  return convertToModelMessages(conversation.slice(from).map(uiMessage), { tools, ignoreIncompleteToolCalls: true })
}

/** Reads the stream to its end even after the client disconnects, and discards the rest. */
export function drained<T>(stream: ReadableStream<T>, onDisconnect: () => void): ReadableStream<T> {
  const reader = stream.getReader()
  let isDisconnected = false
  const pump = async (controller: ReadableStreamDefaultController<T>) => {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      if (!isDisconnected) controller.enqueue(value)
    }
    if (!isDisconnected) controller.close()
  }
  return new ReadableStream<T>({
    start(controller) {
      // Not awaited: a pending `start` would block readers.
      void pump(controller).catch((error: unknown) => {
        if (!isDisconnected) controller.error(error)
      })
    },
    cancel() {
      isDisconnected = true
      onDisconnect()
    },
  })
}
