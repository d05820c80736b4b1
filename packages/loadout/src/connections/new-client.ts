/** The SDK's client as we want it: both eras, our own checks, and questions put to people. */
import { Client, type ElicitResult } from '@modelcontextprotocol/client'
import { cleanText } from '../schema/clean-text.ts'
import type { JsonObject } from '../schema/json.ts'
import type { CallClocks } from './call-clock.ts'
import type { ConnectionHooks, ConnectionTarget, Question } from './connection.ts'
import { NO_VALIDATION } from './no-validation.ts'

const MAX_OPEN_QUESTIONS = 3

export interface ClientParts {
  target: ConnectionTarget
  hooks: ConnectionHooks
  clientVersion: string
}

export const MODERN_VERSION = '2026-07-28'

/** How long a server may leave the first question of the new era unanswered. */
export const probeMsOf = ({ connectMs }: ConnectionTarget, mostMs = 3000) => Math.min(connectMs / 2, mostMs)

/** Loadout as every server sees it. */
export const identityOf = (clientVersion: string) => ({
  info: { name: 'loadout', version: clientVersion },
  capabilities: {
    elicitation: { form: { applyDefaults: true }, url: {} },
    extensions: { 'io.modelcontextprotocol/skills': {} },
  },
})

export function newClient({ target, hooks, clientVersion }: ClientParts, clocks: CallClocks): Client {
  const { info, capabilities } = identityOf(clientVersion)
  const client = new Client(info, {
    capabilities,
    versionNegotiation: {
      mode: target.only === 'modern' ? { pin: MODERN_VERSION } : 'auto',
      probe: { timeoutMs: probeMsOf(target) },
    },
    // Output is checked by our own validator, which no schema of a server can block.
    jsonSchemaValidator: NO_VALIDATION,
  })
  let open = 0
  client.setRequestHandler('elicitation/create', async (request, context) => {
    const question = readQuestion(request.params as JsonObject)
    if (open >= MAX_OPEN_QUESTIONS || question === undefined) return { action: 'decline' as const }
    open++
    const standing = clocks.running()
    for (const clock of standing) clock.pause()
    try {
      const answer = await hooks.onQuestion(question, context.mcpReq.signal)
      return answer as ElicitResult
    } finally {
      open--
      for (const clock of standing) clock.resume()
    }
  })
  return client
}

/** Undefined where the question must not reach a person: a URL that is no web page. */
function readQuestion(params: JsonObject): Question | undefined {
  const mode = params.mode === 'url' ? ('url' as const) : ('form' as const)
  const message = cleanText(String(params.message ?? '').slice(0, 4000)).text
  if (mode === 'url') {
    const url = URL.parse(String(params.url ?? ''))
    return url?.protocol === 'https:' || url?.protocol === 'http:' ? { mode, message, url: url.href } : undefined
  }
  return { mode, message, requestedSchema: (params.requestedSchema ?? { type: 'object' }) as JsonObject }
}
