/**
 * What a scripted model is asked and what it says, whichever API it is asked through. A script is a list of steps, one a
 * request that the API would have taken, or a function of the request.
 */
import type { JsonObject } from '../../schema/json.ts'

export const MODEL_APIS = ['anthropic', 'responses', 'chat', 'google'] as const
export type ModelApi = (typeof MODEL_APIS)[number]

/** A request as it came, and what tests look at most. */
export interface ModelRequest {
  api: ModelApi
  path: string
  headers: Readonly<Record<string, string>>
  body: JsonObject
  stream: boolean
  /** Messages, or input items; what the API remembers of earlier answers is put in its place. */
  history: JsonObject[]
  /** As sent. */
  tools: JsonObject[]
  /** Every tool by its name, those inside namespaces too. */
  toolNames: string[]
  /** The names of those that are deferred. */
  deferredNames: string[]
}

/** A call of a tool that the app runs. */
export interface ScriptedCall {
  name: string
  arguments?: JsonObject
  /** @default one that the server makes */
  id?: string
  /** @default where the request has the tool (Responses) */
  namespace?: string
  caller?: JsonObject
  /** The model makes it up: the request does not show it such a tool. @default false, and then a script that does is wrong */
  madeUp?: boolean
}

/** The provider's own tool search. Who finds is by the request: the provider what is given here, or the app. */
export interface ScriptedSearch {
  arguments: JsonObject
  /** What the provider finds. */
  found?: readonly string[]
  /** The code of the error that the provider answers with instead (Anthropic). */
  error?: string
  id?: string
}

/** A program that the provider runs. It waits wherever it calls, until the app has answered. */
export interface ScriptedProgram {
  /** It begins here. Without this, the one that waits goes on. */
  code?: string
  /** @default one that the server makes, or of the one that waits */
  id?: string
  /** What it calls. */
  calls?: readonly ScriptedCall[]
  /** It is over, and this is what it gave. */
  output?: string
  /** It is over, and this is what it failed with. */
  error?: string
}

/** What the model says, in this order; programs that end come before the text, those that call behind it. */
export interface ModelTurn {
  searches?: readonly ScriptedSearch[]
  programs?: readonly ScriptedProgram[]
  /** Blocks or items of the API as they are, for what has no word here. */
  blocks?: readonly JsonObject[]
  text?: string
  calls?: readonly ScriptedCall[]
  /** Why it stopped, in the API's own word. @default by what it says */
  stop?: string
  usage?: { input: number; output: number }
  /** Fields of the answer as they are: a `container`, a `service_tier`. */
  more?: JsonObject
}

/** An answer that no API formed: an outage, a limit, half a body. */
export interface RawAnswer {
  raw: { status?: number; headers?: Record<string, string>; body: JsonObject | string }
}

export type ModelAnswer = string | ModelTurn | RawAnswer
export type ModelScriptFunction = (request: ModelRequest) => ModelAnswer | Promise<ModelAnswer>

export interface ModelStep {
  /** Throws where the request is not what it should be. */
  expect?: (request: ModelRequest) => void
  answer: ModelAnswer | ModelScriptFunction
}

export type ModelScript = readonly ModelStep[] | ModelScriptFunction

/** What an API answers a request that it does not take. */
export class ApiProblem extends Error {
  readonly status: number
  readonly more: { type?: string; code?: string; param?: string }

  constructor(message: string, { status = 400, ...more }: { status?: number } & ApiProblem['more'] = {}) {
    super(message)
    this.status = status
    this.more = more
  }
}

/** What each API is made of: how it checks, answers, streams, and tells what is wrong. */
export interface ApiForm {
  /** The history with what the API remembers. @default as sent */
  recall?(request: ModelRequest): JsonObject[]
  /** Throws an `ApiProblem`. */
  check(request: ModelRequest): void
  answer(turn: ModelTurn, request: ModelRequest): JsonObject
  /** The same answer as the events of a stream. */
  events(answer: JsonObject, request: ModelRequest): StreamEvent[]
  problem(problem: ApiProblem): JsonObject
}

export interface StreamEvent {
  event?: string
  data: JsonObject | string
}

/** Ids that are the same in every run. */
export type NewId = (prefix: string) => string

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
export const objects = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

/** A text as a stream brings it: in pieces. */
export const pieces = (text: string): string[] => text.match(/[\s\S]{1,12}/g) ?? ['']

export const usageOf = (turn: ModelTurn, request: ModelRequest) =>
  turn.usage ?? {
    input: Math.ceil(JSON.stringify(request.body).length / 4),
    output: Math.max(1, Math.ceil(JSON.stringify(turn).length / 4)),
  }

/** A model calls what it was shown. A script that calls something else tests nothing. */
export function assertVisible(calls: readonly ScriptedCall[] = [], visible: ReadonlySet<string>): void {
  const [unexpected] = calls.filter(({ name, madeUp }) => !madeUp && !visible.has(name))
  if (unexpected)
    throw new Error(`The request shows the model no tool '${unexpected.name}'. It shows: ${[...visible].join(', ')}.`)
}
