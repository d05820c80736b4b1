/**
 * Chat answers on the AI SDK. `startAnswer` stores the message and starts the run; `answerHandler` executes such runs in
 * any process and stores the message of the answer when it is over.
 */
import { readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai'
import { HostError } from '../../errors.ts'
import { type HostLike, toServices } from '../../host/to-services.ts'
import type { AnswerAddress, AnswerHandler } from '../../runs/answers.ts'
import type { ActiveRun, RunEnd, RunPart } from '../../runs/engine.ts'
import { newId } from '../../schema/ids.ts'
import { type JsonObject, parse } from '../../schema/json.ts'
import type { UserPart } from '../../schema/records/message.ts'
import { assertTokensLeft } from '../agent-settings.ts'
import { modelFailure } from '../model-failure.ts'
import type { Models } from '../models.ts'
import { isResponse, type RegenerateRequest, startTurn } from '../turn.ts'
import { AnswerRun } from './answer-run.ts'
import { type AnswerServices, type StoredAnswer, storedAnswer } from './stored-answer.ts'

export interface AnswerHandlerOptions {
  host: HostLike<AnswerServices>
  models: Pick<Models, 'open'>
}

export interface StartAnswer extends AnswerHandlerOptions {
  userId: string
  threadId: string
  /** `provider:model`. @default the operator's */
  model?: string | undefined
  userParts?: readonly UserPart[] | undefined
  /** Regenerates the last answer, as the SDK's `regenerate-message` does. */
  again?: RegenerateRequest | undefined
  system?: string | undefined
  maxSteps?: number | undefined
  budget?: number | undefined
  resolve?: StoredAnswer['resolve']
}

/**
 * Starts an answer and returns its ID. It goes on without its readers.
 * @example const answerId = await startAnswer({ host, models, userId, threadId, userParts })
 */
export async function startAnswer(options: StartAnswer): Promise<string> {
  const { userId, threadId, models, model, system, maxSteps, budget, resolve } = options
  const { messages, answers } = toServices(options.host)
  const opened = await models.open(userId, model, { threadId })
  await assertTokensLeft(opened.tokens)
  await answers.assertIdle(userId, threadId)
  const { conversation, instead } = await startTurn({ ...options, messages })
  const userMessageId = conversation.at(-1)?.id ?? ''
  const input = { messageId: newId('message'), userMessageId, instead, model, system, maxSteps, budget, resolve }
  return answers.start({ userId, threadId }, JSON.parse(JSON.stringify(input)) as JsonObject)
}

/**
 * Executes the answers of a host.
 * @example services.answers.serve(answerHandler({ host, models }))
 */
export function answerHandler({ host, models }: AnswerHandlerOptions): AnswerHandler {
  const services = toServices(host)
  return {
    async work(run) {
      const input = parse(storedAnswer, run.input)
      const answer = { userId: run.userId, threadId: run.threadId ?? '', answerId: run.runId }
      const end = await execute({ services, models }, run, input)
      if (end.status === 'completed' || end.status === 'failed') await storeMessage(services, answer, input)
      return end
    },
    onCancelled: (answer, input) => storeMessage(services, answer, parse(storedAnswer, input)),
  }
}

async function execute(
  { services, models }: { services: AnswerServices; models: AnswerHandlerOptions['models'] },
  run: ActiveRun,
  input: StoredAnswer,
): Promise<RunEnd> {
  const answer = new AnswerRun(services, run, input)
  const { userId, threadId } = run
  const fail = async (error: HostError, line: string): Promise<RunEnd> => {
    run.signal.throwIfAborted()
    await answer.fail(line)
    return { status: 'failed', error }
  }
  const opened = await models.open(userId, input.model, { threadId }).catch((error: unknown) => HostError.from(error))
  if (opened instanceof HostError) return fail(opened, `${opened.message} ${opened.action}`)
  try {
    return await answer.go(opened)
  } catch (error) {
    run.signal.throwIfAborted()
    const failure = modelFailure(error, opened)
    return fail(failure, failure.line)
  }
}

/** Stores the message of an ended answer, once. */
async function storeMessage(
  { messages, answers }: AnswerServices,
  answer: AnswerAddress,
  { messageId, instead }: StoredAnswer,
): Promise<void> {
  const { userId, threadId } = answer
  const message = await assemble(await answers.parts(answer), messageId)
  const parts = (message?.parts ?? []) as unknown as JsonObject[]
  // An empty answer does not replace an existing one.
  if (parts.length === 0 || (instead.length > 0 && !isResponse(parts as never))) return
  try {
    const newest = await messages.list(userId, threadId, { limit: NEWEST })
    if (newest.some(({ id }) => id === messageId)) return
    const metadata = message?.metadata as JsonObject | undefined
    await messages.add(userId, threadId, { id: messageId, role: 'assistant', parts, metadata, instead })
  } catch (error) {
    // The thread may have been deleted meanwhile.
    if (!HostError.is(error) || error.code !== 'not-found') throw error
  }
}

const NEWEST = 20

/** The message that a reader of all parts has in the end. */
async function assemble(parts: readonly RunPart[], id: string): Promise<UIMessage | undefined> {
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const { part } of parts) if (part.type !== 'error') controller.enqueue(part as unknown as UIMessageChunk)
      controller.close()
    },
  })
  let message: UIMessage | undefined
  const empty: UIMessage = { id, role: 'assistant', parts: [] }
  for await (const state of readUIMessageStream({ message: empty, stream })) message = state
  return message
}
