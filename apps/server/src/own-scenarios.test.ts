/**
 * What the official conformance suite lacks, over our HTTP API: a real server, real MCP servers of the official SDK over
 * stdio, HTTP in both eras and the old HTTP+SSE. Each scenario looks at what the API answered and at what the server was sent.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { CANCELLING } from './testing/scenarios/cancelling.ts'
import { CHANGES } from './testing/scenarios/changes.ts'
import { LIMITS } from './testing/scenarios/limits.ts'
import { OLD_SSE } from './testing/scenarios/old-sse.ts'
import { PAGES } from './testing/scenarios/pages.ts'
import { PROGRESS } from './testing/scenarios/progress.ts'
import { QUESTIONS } from './testing/scenarios/questions.ts'
import { RESULTS } from './testing/scenarios/results.ts'
import { SESSIONS } from './testing/scenarios/sessions.ts'
import { SIGN_IN } from './testing/scenarios/sign-in.ts'
import { STDIO } from './testing/scenarios/stdio.ts'
import { type Api, type Scenarios, startApi, World } from './testing/scenarios/world.ts'

const ALL: Record<string, Scenarios> = {
  'sign-in': SIGN_IN,
  sessions: SESSIONS,
  'servers that ask for time': LIMITS,
  'tools that change': CHANGES,
  progress: PROGRESS,
  cancelling: CANCELLING,
  'lists in pages': PAGES,
  stdio: STDIO,
  'HTTP+SSE': OLD_SSE,
  questions: QUESTIONS,
  results: RESULTS,
}
const LEAST = 36

let api: Api
let world: World
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.close())
beforeEach(() => {
  world = new World(api)
})
afterEach(() => world.end())

for (const [area, scenarios] of Object.entries(ALL))
  describe(area, () => {
    for (const [name, scenario] of Object.entries(scenarios)) it(name, () => scenario(world))
  })

it(`there are at least ${LEAST} of them`, () => {
  const count = Object.values(ALL).flatMap((scenarios) => Object.keys(scenarios)).length
  expect(count).toBeGreaterThanOrEqual(LEAST)
})
