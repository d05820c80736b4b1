/**
 * Two users who meet as closely as they can: toolkits, secrets and threads of the same ids, and things that only one has.
 * One of them asks for everything of the other, on every route that the app has. The routes come from the app's own
 * document: one that is added later is in here by itself, or is a finding until somebody says how it is filled.
 */
import { EVERYTHING } from '../../../../test/real-servers.ts'
import {
  BODIES,
  COOKIES,
  MARKS,
  OPERATOR,
  OPERATORS,
  PAGES,
  PARAMS,
  QUERIES,
  REFUSED,
  STREAMS,
  type Things,
  USERS,
  type User,
  type Who,
  WRITES,
} from './isolation-routes.ts'

export interface IsolationApp {
  fetch(who: Who, path: string, init: RequestInit): Promise<Response>
  /** A real MCP server over HTTP. */
  serverUrl: string
}

type Body = ReturnType<typeof JSON.parse>
interface Answer {
  route: string
  status: number
  text: string
  body: Body
}

interface Meeting {
  world: IsolationApp
  findings: string[]
  /** Every answer that a user ever got. */
  answers: Record<User, Answer[]>
  events: Record<User, { text: string; stop(): Promise<void> }>
  routes: Route[]
}
interface Route {
  method: string
  path: string
}

/** What went wrong when `acting` asked for all that `other` has. Empty is good. */
export async function findLeaks(world: IsolationApp, acting: User): Promise<{ findings: string[]; routes: string[] }> {
  const other: User = acting === 'ann' ? 'bob' : 'ann'
  const findings: string[] = []
  const answers = { ann: [], bob: [] }
  const routes = await readRoutes(world)
  const events = { ann: await listen(world, 'ann'), bob: await listen(world, 'bob') }
  const meeting: Meeting = { world, findings, answers, events, routes }
  const own = await settle(meeting, acting)
  const theirs = await settle(meeting, other)
  const before = await lookAtAll(meeting, other, theirs)

  await askForTheirs(meeting, acting, theirs)
  await useTheSameIds(meeting, acting, own)
  await nameTheirs(meeting, acting, theirs)

  const after = await lookAtAll(meeting, other, theirs)
  for (const [route, text] of before)
    if (after.get(route) !== text) findings.push(`${other}'s ${route} changed: ${text} → ${after.get(route)}`)
  for (const user of USERS) await events[user].stop()
  lookForMarks(meeting, { ann: acting === 'ann' ? own : theirs, bob: acting === 'bob' ? own : theirs })
  return { findings, routes: routes.map(({ method, path }) => `${method} ${path}`) }
}

async function readRoutes({ fetch }: IsolationApp): Promise<Route[]> {
  const { paths } = (await (await fetch(OPERATOR, '/api/openapi.json', {})).json()) as Body
  const own = Object.entries(paths as Record<string, object>).filter(([path]) => !COOKIES.test(path))
  return own.flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })),
  )
}

async function ask({ world, answers }: Meeting, who: Who, [route, body]: [route: string, body?: unknown]) {
  const [method = '', path = ''] = route.split(' ')
  const headers = { 'content-type': 'application/json' }
  const init = body === undefined ? { method } : { method, headers, body: JSON.stringify(body) }
  const response = await world.fetch(who, path, init)
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') === true
  const answer: Answer = { route, status: response.status, text, body: isJson ? JSON.parse(text) : undefined }
  if (who !== OPERATOR) answers[who].push(answer)
  return answer
}

/** The same for both users, marked. */
async function settle(meeting: Meeting, user: User): Promise<Things> {
  const mark = MARKS[user]
  const must = async (route: string, body: unknown) => {
    const answer = await ask(meeting, user, [route, body])
    if (answer.status >= 300) throw new Error(`${user} could not ${route}: ${answer.status} ${answer.text}`)
    return answer.body
  }
  const kit = await must('POST /api/mcp', {
    id: 'kit',
    name: `Kit ${mark}`,
    command: process.execPath,
    args: [EVERYTHING, 'stdio'],
    env: { TOKEN: `${mark}-secret`, WHOSE: `key of ${mark}` },
    overrides: { echo: { description: mark } },
  })
  const only = await must('POST /api/mcp', {
    id: `only-${user}`,
    name: `Only ${mark}`,
    url: meeting.world.serverUrl,
    headers: { 'X-Key': `${mark}-header` },
    account: mark,
  })
  await must('POST /api/threads', { id: 'trip', title: mark })
  await must('POST /api/threads/trip/activations', { ref: 'kit.get-sum', on: false })
  await must('POST /api/threads/trip/activations', { ref: `${mark}*`, on: false })
  await must('POST /api/threads', { id: `thread-${user}`, title: mark })
  await must('POST /api/threads/trip/activations', { ref: `only-${user}`, on: true })
  // Looking is itself a use, which would count in their own searches.
  const costLimits = { maxCallsPerHour: user === 'ann' ? 71 : 72 }
  await must('PATCH /api/preferences', { costLimits, learnFromUse: false })
  const key = await must('POST /api/keys', { name: mark })
  const call = await must('POST /api/tools/kit/get-env/call', { arguments: {} })
  // The token itself is masked in results; what was sealed beside it is not.
  if (!JSON.stringify(call).includes(`key of ${mark}`)) meeting.findings.push(`${user}'s secret did not reach the kit`)
  const asked = await must('POST /api/tools/kit/trigger-elicitation-request/call', { arguments: {} })
  const run = await must('POST /api/threads/trip/run', {
    program: `console.log('${mark}'); return await kit.echo({ message: '${mark}' })`,
  })
  const workflow = await must('POST /api/workflows', {
    name: mark,
    nodes: [{ id: 'a', type: 'tool', ref: 'kit.echo', arguments: { message: mark } }],
  })
  return {
    ...(await askUntilStored(must, mark)),
    kitUscoId: kit.uscoId,
    onlyKit: only.id,
    onlyUscoId: only.uscoId,
    onlyThread: `thread-${user}`,
    callId: call.callId,
    inputId: asked.input.id,
    keyId: key.id,
    runId: run.id,
    workflowId: workflow.id,
  }
}

type Must = (route: string, body?: object) => Promise<ReturnType<typeof JSON.parse>>

/** A question that is open, an answer that is remembered, and a result that was too large. */
async function askUntilStored(must: Must, mark: string) {
  await must('PUT /api/policy/own', { rules: [{ pattern: 'kit.get-sum', decision: 'ask', reason: mark }] })
  const sum = { arguments: { a: 1, b: 2 } }
  const answered = await must('POST /api/tools/kit/get-sum/call', sum)
  const open = await must('POST /api/tools/kit/get-sum/call', sum)
  await must(`POST /api/approvals/${answered.approval.id}/answer`, { decision: 'deny', remember: 'tool' })
  const [grant] = (await must('GET /api/grants')).items
  const large = await must('POST /api/tools/kit/echo/call', { arguments: { message: mark.repeat(12_000) } })
  return { approvalId: open.approval.id, grantId: grant.id, resultId: large.resultHandle }
}

/** Every route that names a thing in its path, with the other's: it does not exist, and no differently from nothing. */
async function askForTheirs(meeting: Meeting, acting: User, theirs: Things): Promise<void> {
  for (const { method, path } of meeting.routes.filter(hasParams)) {
    const forOperators = OPERATORS.test(path)
    for (const params of fillings(meeting, path, theirs)) {
      const request = requestOf(meeting, { method, path }, params)
      if (!request) continue
      const answer = await ask(meeting, acting, request)
      expectStatus(meeting, answer, forOperators ? 403 : 404)
      const nobodys = requestOf(meeting, { method, path }, { ...params, ...namingNothing(params) })
      if (nobodys) await expectNoDifference(meeting, answer, { acting, params, nobodys })
      if (forOperators) expectStatus(meeting, await ask(meeting, OPERATOR, request), 404)
    }
  }
}

/** What it says of the other's is what it says of an id that was never given. */
async function expectNoDifference(
  { findings, ...meeting }: Meeting,
  answer: Answer,
  { acting, params, nobodys }: { acting: User; params: Record<string, string>; nobodys: [string, unknown?] },
): Promise<void> {
  const nothing = await ask({ findings, ...meeting }, acting, nobodys)
  const withoutIds = ({ status, body }: Answer, ids: Record<string, string>) => {
    const { requestId: _, callId: _call, ...rest } = body ?? {}
    return Object.values(ids).reduce((text, id) => text.replaceAll(id, '…'), JSON.stringify([status, rest]))
  }
  const [a, b] = [withoutIds(answer, params), withoutIds(nothing, { ...params, ...namingNothing(params) })]
  if (a !== b) findings.push(`${answer.route} tells that it exists: ${a}, but for nothing ${b}`)
}

const namingNothing = (params: Record<string, string>) => ({
  [Object.keys(params)[0] as string]: 'nobody-has-this',
})

/** Every route with the ids that both have: it is the own thing, whatever is done to it. What ends a thing comes last. */
async function useTheSameIds(meeting: Meeting, acting: User, own: Things): Promise<void> {
  const shared = { ...own, onlyKit: 'kit', onlyUscoId: own.kitUscoId, onlyThread: 'trip' }
  const order = ['GET', 'PUT', 'POST', 'PATCH', 'DELETE']
  const routes = meeting.routes.filter((route) => hasParams(route) && !OPERATORS.test(route.path))
  const rank = ({ method, path }: Route) => order.indexOf(method) * 1000 - path.length
  for (const { method, path } of routes.sort((a, b) => rank(a) - rank(b))) {
    const [params] = fillings(meeting, path, shared)
    const request = params && requestOf(meeting, { method, path }, params)
    if (!request) continue
    const answer = await ask(meeting, acting, request)
    if (answer.status >= 400 && !REFUSED.has(`${method} ${path}`))
      meeting.findings.push(`${request[0]} with an own id gave ${answer.status} ${answer.text}`)
  }
}

/** Ids of the other in a body or a query. */
async function nameTheirs(meeting: Meeting, acting: User, theirs: Things): Promise<void> {
  const call = { arguments: { text: 'x' }, threadId: theirs.onlyThread }
  expectStatus(meeting, await ask(meeting, acting, [`POST /api/tools/only-${acting}/echo/call`, call]), 404)
  for (const { method, path } of meeting.routes.filter((route) => !hasParams(route))) {
    const route = `${method} ${path}`
    if (STREAMS.has(route)) continue
    const named = WRITES[route]
    if (named) {
      const { body, query = '', status } = named(theirs, acting === 'ann' ? 'bob' : 'ann')
      expectStatus(meeting, await ask(meeting, acting, [`${route}${query}`, body]), status)
    } else if (method !== 'GET') meeting.findings.push(`${route}: say in WRITES what is sent`)
    if (method !== 'GET' || PAGES.has(route)) continue
    const plain = await ask(meeting, acting, [`${route}${QUERIES[route] ?? ''}`])
    expectStatus(meeting, plain, OPERATORS.test(path) ? 403 : 200)
  }
}

/** All that a user can look at, and what their kit was told as its secret. */
async function lookAtAll(meeting: Meeting, user: User, own: Things): Promise<Map<string, string>> {
  const seen = new Map<string, string>()
  const look = async (request: [string, unknown?]) => {
    const { text } = await ask(meeting, user, request)
    // Looking is itself a use, and a server that says its list has changed is looked at again in its own time.
    seen.set(request[0], text.replace(/"(requestId|callId|lastUsedAt|at|discoveredAt)":"[^"]*"|"used":\d+/g, ''))
  }
  for (const { method, path } of meeting.routes.filter(({ method }) => method === 'GET')) {
    if (STREAMS.has(`${method} ${path}`) || OPERATORS.test(path)) continue
    const shared = { ...own, onlyKit: 'kit', onlyThread: 'trip' }
    const all = hasParams({ method, path })
      ? [own, shared].flatMap((things) => fillings(meeting, path, things))
      : ([{}] as Array<Record<string, string>>)
    for (const params of all) {
      const request = requestOf(meeting, { method, path }, params)
      if (request) await look(request)
    }
  }
  await look(['POST /api/tools/kit/get-env/call', { arguments: {} }])
  return seen
}

/** Nothing of the one in anything that the other was ever told. */
function lookForMarks({ findings, answers, events }: Meeting, things: Record<User, Things>): void {
  for (const user of USERS) {
    const other: User = user === 'ann' ? 'bob' : 'ann'
    const mark = MARKS[other]
    const { kitUscoId, onlyUscoId, callId, inputId, keyId, approvalId, grantId, resultId } = things[other]
    for (const { route, status, text } of answers[user]) {
      if (text.includes(mark)) findings.push(`${route} told ${user} of ${other}: ${around(text, mark)}`)
      // An error may repeat what was asked for.
      if (status >= 300) continue
      for (const id of [kitUscoId, onlyUscoId, callId, inputId, keyId, approvalId, grantId, resultId])
        if (text.includes(id)) findings.push(`${route} told ${user} the id ${id} of ${other}`)
    }
    const { text } = events[user]
    if (!text.includes(things[user].kitUscoId)) findings.push(`${user} heard no events`)
    for (const sign of [mark, kitUscoId, onlyUscoId, inputId, approvalId, grantId])
      if (text.includes(sign)) findings.push(`an event told ${user} of ${other}: ${around(text, sign)}`)
    if (!answers[user].some((answer) => answer.text.includes(MARKS[user])))
      findings.push(`${user} saw nothing of theirs`)
  }
}

const around = (text: string, sign: string) => text.slice(Math.max(0, text.indexOf(sign) - 80), text.indexOf(sign) + 80)
const hasParams = ({ path }: Route) => path.includes('{')

/** Which things a path names; a finding where nobody said it. */
function fillings({ findings }: Meeting, path: string, things: Things): Array<Record<string, string>> {
  const [, fill] = Object.entries(PARAMS).find(([begin]) => path.startsWith(begin)) ?? []
  if (fill) return fill(things)
  const finding = `${path}: say in PARAMS which things it names`
  if (!findings.includes(finding)) findings.push(finding)
  return []
}

function requestOf(
  { findings }: Meeting,
  { method, path }: Route,
  params: Record<string, string>,
): [string, unknown?] | undefined {
  const route = `${method} ${path}`
  const filled = path.replace(/\{(\w+)\}/g, (hole, name: string) => encodeURIComponent(params[name] ?? hole))
  const finding = filled.includes('%7B')
    ? `${path}: say in PARAMS what stands for all of its names`
    : ['POST', 'PUT', 'PATCH'].includes(method) && !(route in BODIES)
      ? `${route}: say in BODIES what is sent`
      : undefined
  if (finding === undefined) return [`${method} ${filled}${QUERIES[route] ?? ''}`, BODIES[route] ?? undefined]
  if (!findings.includes(finding)) findings.push(finding)
  return undefined
}

function expectStatus({ findings }: Meeting, { route, status, text }: Answer, wanted: number): void {
  if (status !== wanted) findings.push(`${route} gave ${status} instead of ${wanted}: ${text.slice(0, 300)}`)
}

async function listen({ fetch }: IsolationApp, user: User): Promise<{ text: string; stop(): Promise<void> }> {
  const controller = new AbortController()
  const response = await fetch(user, '/api/events', { signal: controller.signal })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  const hearing = { text: '', stop: async () => {} }
  const listening = (async () => {
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) hearing.text += part.value
  })().catch(() => {})
  hearing.stop = async () => {
    // What was emitted is written in the next turns.
    await new Promise((resolve) => setTimeout(resolve, 100))
    await reader?.cancel().catch(() => {})
    controller.abort()
    await listening
  }
  return hearing
}
