/**
 * Scripted model over real HTTP on loopback for Anthropic Messages, OpenAI Responses, OpenAI Chat Completions and
 * Gemini. Requests are validated as the APIs document: an invalid request gets their status and body and uses no step.
 * A step whose `expect` throws is rejected too, and `done()` reports it.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { JsonObject } from '../../schema/json.ts'
import { isObject } from '../../util/is-object.ts'
import { anthropicForm } from './anthropic.ts'
import { chatForm } from './chat.ts'
import { GOOGLE_PATH, googleForm } from './google.ts'
import { responsesForm } from './responses.ts'
import {
  type ApiForm,
  ApiProblem,
  type ModelAnswer,
  type ModelApi,
  type ModelRequest,
  type ModelScript,
  type NewId,
  objects,
  type RawAnswer,
  type StreamEvent,
} from './script.ts'

export interface ModelServer extends AsyncDisposable {
  url: string
  /** `baseURL` for the official SDKs: Anthropic's has no version, OpenAI's has. */
  baseUrl: { anthropic: string; openai: string; aiSdkAnthropic: string; google: string }
  /** All requests, including rejected ones. */
  requests: RecordedRequest[]
  /** Throws when an `expect` failed, a request had no step, or steps are left. */
  done(): void
  close(): Promise<void>
}

export interface RecordedRequest extends ModelRequest {
  /** Response status; 0 while pending. */
  status: number
  /** Rejection reason. */
  refused?: string
  /** The client disconnected before the end. */
  aborted?: true
}

export interface ModelServerOptions {
  /** The only accepted key. @default any */
  apiKey?: string
  /** Maximum request size in bytes. @default 32 MB */
  maxBytes?: number
  /** Delay between stream events in ms. @default none */
  paceMs?: number
}

const PATHS: Readonly<Record<string, ModelApi>> = {
  '/v1/messages': 'anthropic',
  '/v1/responses': 'responses',
  '/v1/chat/completions': 'chat',
}
const MAX_BYTES = 32 * 1024 * 1024

export async function startModelServer(script: ModelScript, options: ModelServerOptions = {}): Promise<ModelServer> {
  const requests: RecordedRequest[] = []
  const failures: Error[] = []
  const steps = createSteps(script, failures)
  const forms = createForms()

  // Imported lazily: suites of the same entry also run in browsers.
  const { createServer } = await import('node:http')
  const http = createServer(async (incoming, outgoing) => {
    outgoing.on('error', () => {})
    const path = new URL(incoming.url ?? '/', 'http://localhost').pathname
    const api = apiOf(path)
    const form = forms[api ?? (path.includes('messages') ? 'anthropic' : 'responses')]
    let recorded: RecordedRequest | undefined
    try {
      if (!api || incoming.method !== 'POST')
        throw new ApiProblem(`Not found: ${path}`, { status: 404, type: 'not_found_error' })
      const headers = headersOf(incoming)
      const body = await bodyOf(incoming, options.maxBytes ?? MAX_BYTES)
      recorded = { ...requestOf({ api, path, headers, body }), status: 0 }
      const current = recorded
      requests.push(current)
      outgoing.on('close', () => outgoing.writableFinished || Object.assign(current, { aborted: true }))
      checkKey(recorded, options.apiKey)
      recorded.history = form.recall?.(recorded) ?? recorded.history
      form.check(recorded)
      const answer = await steps.next(recorded, form)
      recorded.status = isRaw(answer) ? (answer.raw.status ?? 200) : 200
      await send(outgoing, { form, request: recorded, answer, paceMs: options.paceMs })
    } catch (error) {
      const problem = error instanceof ApiProblem ? error : new ApiProblem(String(error))
      if (recorded) Object.assign(recorded, { status: problem.status, refused: problem.message })
      sendJson(outgoing, { status: problem.status, body: form.problem(problem) })
    }
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const close = () =>
    new Promise<void>((resolve) => {
      http.close(() => resolve())
      http.closeAllConnections()
    })
  return {
    url,
    baseUrl: { anthropic: url, openai: `${url}/v1`, aiSdkAnthropic: `${url}/v1`, google: `${url}/v1beta` },
    requests,
    done() {
      if (failures[0]) throw failures[0]
      if (steps.remaining() > 0) throw new Error(`${steps.remaining()} steps of the script were not asked for.`)
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

function createForms(): Record<ModelApi, ApiForm> {
  let count = 0
  const newId: NewId = (prefix) => `${prefix}_${String(++count).padStart(6, '0')}`
  return {
    anthropic: anthropicForm(newId),
    responses: responsesForm(newId),
    chat: chatForm(newId),
    google: googleForm(newId),
  }
}

function apiOf(path: string): ModelApi | undefined {
  if (GOOGLE_PATH.test(path)) return 'google'
  return Object.hasOwn(PATHS, path) ? PATHS[path] : undefined
}

function createSteps(script: ModelScript, failures: Error[]) {
  let used = 0
  const reportFailure = (error: unknown): ApiProblem => {
    const failure = error instanceof Error ? error : new Error(String(error))
    failures.push(failure)
    return new ApiProblem(`The script did not expect this request: ${failure.message}`)
  }
  async function answerTo(request: ModelRequest): Promise<ModelAnswer> {
    if (typeof script === 'function') return script(request)
    const step = script[used++]
    if (!step) throw new Error(`It has ${script.length} steps, and this is request ${used}.`)
    step.expect?.(request)
    return typeof step.answer === 'function' ? step.answer(request) : step.answer
  }
  return {
    remaining: () => (typeof script === 'function' ? 0 : Math.max(0, script.length - used)),
    /** Answer in the API's format; a turn that the API cannot express is an error in the script. */
    async next(request: ModelRequest, form: ApiForm): Promise<JsonObject | RawAnswer> {
      try {
        const answer = await answerTo(request)
        if (isRaw(answer)) return answer
        return form.answer(typeof answer === 'string' ? { text: answer } : answer, request)
      } catch (error) {
        throw error instanceof ApiProblem ? error : reportFailure(error)
      }
    },
  }
}

function requestOf({
  api,
  path,
  headers,
  body,
}: Pick<ModelRequest, 'api' | 'path' | 'headers' | 'body'>): ModelRequest {
  const sentTools = objects(body.tools)
  const tools = api === 'google' ? sentTools.flatMap((tool) => objects(tool.functionDeclarations)) : sentTools
  const all = tools.flatMap((tool) => (tool.type === 'namespace' ? objects(tool.tools) : [tool]))
  const nameOf = (tool: JsonObject) => (isObject(tool.function) ? tool.function.name : tool.name)
  const names = (among: readonly JsonObject[]) =>
    among.map(nameOf).filter((name): name is string => typeof name === 'string')
  const history = objects(api === 'responses' ? body.input : api === 'google' ? body.contents : body.messages)
  const stream = api === 'google' ? path.endsWith(':streamGenerateContent') : body.stream === true
  return {
    api,
    path,
    headers,
    body,
    stream,
    history,
    tools,
    toolNames: names(all),
    deferredNames: names(all.filter((tool) => tool.defer_loading === true)),
  }
}

function checkKey({ api, headers }: ModelRequest, apiKey: string | undefined): void {
  const bearer = headers.authorization?.replace(/^Bearer /, '')
  const providerKeys = { anthropic: headers['x-api-key'], google: headers['x-goog-api-key'] }
  const key = (api === 'anthropic' || api === 'google' ? providerKeys[api] : undefined) ?? bearer
  if (key !== undefined && key !== '' && (apiKey === undefined || key === apiKey)) return
  const message = api === 'anthropic' ? 'invalid x-api-key' : 'Incorrect API key provided.'
  throw new ApiProblem(message, { status: 401, type: 'authentication_error', code: 'invalid_api_key' })
}

const headersOf = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))

async function bodyOf(incoming: IncomingMessage, maxBytes: number): Promise<JsonObject> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of incoming) {
    size += (chunk as Buffer).length
    if (size <= maxBytes) chunks.push(chunk as Buffer)
  }
  if (size > maxBytes)
    throw new ApiProblem('Request exceeds the maximum size', { status: 413, type: 'request_too_large' })
  try {
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    if (isObject(body)) return body
  } catch {}
  throw new ApiProblem('The request body is not valid JSON')
}

interface SendInput {
  form: ApiForm
  request: ModelRequest
  answer: JsonObject | RawAnswer
  paceMs: number | undefined
}

async function send(outgoing: ServerResponse, { form, request, answer, paceMs }: SendInput): Promise<void> {
  if (isRaw(answer)) return void sendRaw(outgoing, answer)
  if (!request.stream) return void sendJson(outgoing, { body: answer })
  outgoing.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' })
  for (const event of form.events(answer, request)) {
    if (outgoing.destroyed) break
    outgoing.write(eventText(event))
    // One packet per event where possible; readers must not rely on whole events.
    await new Promise((resolve) => (paceMs === undefined ? setImmediate(resolve) : setTimeout(resolve, paceMs)))
  }
  outgoing.end()
}

const eventText = ({ event, data }: StreamEvent) =>
  `${event ? `event: ${event}\n` : ''}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`

const isRaw = (answer: ModelAnswer | JsonObject): answer is RawAnswer => typeof answer === 'object' && 'raw' in answer

function sendRaw(outgoing: ServerResponse, { raw: { status = 200, headers = {}, body } }: RawAnswer): void {
  if (typeof body === 'string') outgoing.writeHead(status, headers).end(body)
  else sendJson(outgoing, { status, headers, body })
}

function sendJson(
  outgoing: ServerResponse,
  { status = 200, headers = {}, body }: { status?: number; headers?: Record<string, string>; body: JsonObject },
): void {
  outgoing.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}
