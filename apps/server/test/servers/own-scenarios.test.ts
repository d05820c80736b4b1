/**
 * What the official conformance suite lacks, over our HTTP API: a real server, real MCP servers of the official SDK over
 * stdio, HTTP in both eras and the old HTTP+SSE. Each scenario looks at what the API answered and at what the server was sent.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { CANCELLING } from '../support/scenarios/cancelling.ts'
import { CHANGES } from '../support/scenarios/changes.ts'
import { LIMITS } from '../support/scenarios/limits.ts'
import { OLD_SSE } from '../support/scenarios/old-sse.ts'
import { PAGES } from '../support/scenarios/pages.ts'
import { PROGRESS } from '../support/scenarios/progress.ts'
import { QUESTIONS } from '../support/scenarios/questions.ts'
import { RESULTS } from '../support/scenarios/results.ts'
import { type Api, ScenarioContext, type Scenarios, startApi } from '../support/scenarios/scenario-context.ts'
import { SESSIONS } from '../support/scenarios/sessions.ts'
import { SIGN_IN } from '../support/scenarios/sign-in.ts'
import { STDIO } from '../support/scenarios/stdio.ts'

const ALL: Record<string, Scenarios> = {
  'sign-in': SIGN_IN,
  sessions: SESSIONS,
  'rate limits': LIMITS,
  'list_changed notifications': CHANGES,
  progress: PROGRESS,
  'a cancelled call': CANCELLING,
  'paginated lists': PAGES,
  stdio: STDIO,
  'HTTP+SSE': OLD_SSE,
  elicitation: QUESTIONS,
  results: RESULTS,
}
const LEAST = 36

let api: Api
let world: ScenarioContext
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.close())
beforeEach(() => {
  world = new ScenarioContext(api)
})
afterEach(() => world.end())

for (const [area, scenarios] of Object.entries(ALL))
  describe(area, () => {
    for (const [name, scenario] of Object.entries(scenarios)) it(name, () => scenario(world))
  })

it(`the scenario list has at least ${LEAST} entries`, () => {
  const count = Object.values(ALL).flatMap((scenarios) => Object.keys(scenarios)).length
  expect(count).toBeGreaterThanOrEqual(LEAST)
})
