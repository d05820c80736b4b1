/** Open elicitation requests of servers during calls, and their answers. */

import type { ElicitationRequest, ElicitationResult } from '../connections/connection.ts'
import { HostError } from '../errors.ts'
import type { Emitter } from '../events.ts'
import { compileSchema } from '../json-schema/validator.ts'
import { newId } from '../schema/ids.ts'
import type { JsonObject } from '../schema/json.ts'
import { onAbort } from '../util/abort.ts'
import { isObject } from '../util/is-object.ts'
import type { Input } from './call.ts'
import { prefixFieldErrors } from './stages/with-validation.ts'

export interface Inputs {
  /** Opens a request. Resolves with the answer, or with `cancel` when the call ends first. */
  ask(
    owner: { userId: string; toolkit: string; uscoId: string },
    question: ElicitationRequest,
    signal: AbortSignal,
  ): Promise<ElicitationResult>
  list(userId: string): Input[]
  /**
   * `not-found` if the user has no such request; `invalid-input` if the answer does not match, and the request stays
   * open.
   */
  answer(userId: string, id: string, answer: ElicitationResult): void
  /** Notifies about each new request. */
  onRequested(listener: (userId: string, input: Input) => void): () => void
  /** Notifies when a request is no longer open. */
  onSettled(listener: (inputId: string) => void): () => void
}

interface OpenInput {
  userId: string
  input: Input
  settle(answer: ElicitationResult): void
}

const EXPIRE_MS = 10 * 60_000
const MAX_OPEN_PER_USER = 50

export interface InputOptions {
  /** Time in ms until a request expires. @default 600_000 */
  expireMs?: number
}

export function createInputs(events: Emitter, { expireMs = EXPIRE_MS }: InputOptions = {}): Inputs {
  const open = new Map<string, OpenInput>()
  const listeners = new Set<(userId: string, input: Input) => void>()
  const settledListeners = new Set<(inputId: string) => void>()
  const openFor = (userId: string) => [...open.values()].filter((entry) => entry.userId === userId)

  return {
    ask({ userId, toolkit, uscoId }, question, signal) {
      if (signal.aborted) return Promise.resolve({ action: 'cancel' })
      if (openFor(userId).length >= MAX_OPEN_PER_USER) return Promise.resolve({ action: 'decline' })
      const input: Input = { id: newId('input'), toolkit, uscoId, question }
      return new Promise((resolve) => {
        const settle = (answer: ElicitationResult) => {
          clearTimeout(timer)
          stopListening()
          if (open.delete(input.id)) events.emit({ type: 'input-settled', userId, toolkit, inputId: input.id })
          for (const listener of [...settledListeners]) listener(input.id)
          resolve(answer)
        }
        const cancel = () => settle({ action: 'cancel' })
        const timer = setTimeout(cancel, expireMs)
        const stopListening = onAbort(signal, cancel)
        open.set(input.id, { userId, input, settle })
        events.emit({ type: 'input-requested', userId, toolkit, inputId: input.id })
        for (const listener of [...listeners]) listener(userId, input)
      })
    },
    list: (userId) => openFor(userId).map((entry) => entry.input),
    answer(userId, id, answer) {
      const entry = open.get(id)
      if (!entry || entry.userId !== userId)
        throw new HostError('not-found', { detail: 'There is no such open question of yours.' })
      entry.settle(validateElicitation(entry.input.question, answer))
    },
    onSettled(listener) {
      settledListeners.add(listener)
      return () => void settledListeners.delete(listener)
    },
    onRequested(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

/**
 * Completes an answer with the defaults of the form and validates it. Errors name the field path, so that the user can
 * correct it.
 */
export function validateElicitation(
  { mode, requestedSchema }: ElicitationRequest,
  answer: ElicitationResult,
): ElicitationResult {
  if (answer.action !== 'accept') return answer
  // A URL elicitation sends its data directly to the server.
  if (mode === 'url' || requestedSchema === undefined) return { action: 'accept' }
  const content = { ...defaultsOf(requestedSchema), ...answer.content }
  const schema = compileSchema(requestedSchema)
  // An invalid schema is an error of the server, which still validates the answer.
  const result = schema.ok ? schema.validate(content) : { valid: true as const }
  if (result.valid !== false) return { action: 'accept', content }
  const { errors, summary } = prefixFieldErrors('content', result.errors)
  throw new HostError('invalid-input', { detail: `The answer does not fit the question: ${summary}`, errors })
}

function defaultsOf({ properties }: JsonObject): JsonObject {
  const fields = Object.entries(isObject(properties) ? properties : {})
  return Object.fromEntries(
    fields.flatMap(([name, field]) => (isObject(field) && field.default !== undefined ? [[name, field.default]] : [])),
  )
}
