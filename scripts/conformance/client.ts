/**
 * What the conformance suite runs in place of a client: a thin script over the HTTP API of a running server. It registers the
 * suite's server, follows sign-in links as a person would, lists, calls and answers. `LOADOUT_URL` says where the API is.
 */
const base = process.env.LOADOUT_URL ?? ''
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? ''
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}') as Record<string, unknown>
const serverUrl = process.argv.at(-1) ?? ''
const id = `c${process.pid}-${Date.now().toString(36)}`

interface Tool {
  name: string
  inputSchema: Record<string, unknown>
}
interface Problem {
  code?: string
  action?: string
  detail?: string
}
interface Answer {
  status: number
  body: Problem & Record<string, unknown>
}

/** A person signs in so often and no more. */
let signIns = 0
const MOST_SIGN_INS = 3

async function api(method: string, path: string, body?: unknown): Promise<Answer> {
  const response = await fetch(`${base}/api${path}`, {
    method,
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  })
  const text = await response.text()
  console.log(method, path, response.status, text.slice(0, 600))
  return { status: response.status, body: text.startsWith('{') ? JSON.parse(text) : {} }
}

/** Opens the link, and brings what comes of it to the page that people come back to. */
async function signIn(link: string): Promise<void> {
  if (++signIns > MOST_SIGN_INS) throw new Error('The server wants more sign-ins than anybody would make.')
  const response = await fetch(link, { redirect: 'manual' })
  const location = response.headers.get('location')
  if (location === null) throw new Error(`The sign-in page answered ${response.status}.`)
  const { pathname, search } = new URL(location, link)
  const page = await fetch(`${base}${pathname}${search}`)
  const text = await page.text()
  console.log('callback', page.status, /<p>([\s\S]*?)<\/p>/.exec(text)?.[1]?.trim())
  if (!page.ok) throw new Error('The sign-in did not work.')
}

/** Asks until no sign-in is in the way. */
async function withSignIn(ask: () => Promise<Answer>, linkOf: (answer: Answer) => string | undefined): Promise<Answer> {
  for (;;) {
    const answer = await ask()
    const link = linkOf(answer)
    if (link === undefined) return answer
    if (!link.startsWith('http')) throw new Error(link)
    await signIn(link)
  }
}

const linkInProblem = ({ body }: Answer) => (body.code === 'sign-in-needed' ? (body.action ?? '') : undefined)

async function register(auth?: Record<string, unknown>): Promise<Tool[]> {
  const record = { id, name: id, url: serverUrl, ...(auth ? { auth } : {}) }
  const linkInState = ({ body }: Answer) => {
    const state = body.state as { status?: string; url?: string; reason?: string } | undefined
    return state?.status === 'sign-in-needed' ? (state.url ?? state.reason ?? '') : undefined
  }
  let first = true
  const look = () => {
    const asked = first ? api('POST', '/mcp', record) : api('POST', `/mcp/${id}/introspect`)
    first = false
    return asked
  }
  const stateOf = ({ body }: Answer) => body.state as { status?: string; reason?: string } | undefined
  let answer = await withSignIn(look, linkInState)
  // Many run at once on few cores: who was told that it took too long tries again, as a person would.
  for (let tries = 0; tries < 2 && /did not answer within/.test(stateOf(answer)?.reason ?? ''); tries++)
    answer = await withSignIn(look, linkInState)
  const { body } = answer
  const state = stateOf(answer)
  if (state?.status !== 'connected') throw new Error(`Not connected: ${state?.reason ?? JSON.stringify(body)}`)
  return (body.tools ?? []) as Tool[]
}

async function call(tool: string, args: Record<string, unknown> = {}): Promise<Answer> {
  const ask = () => api('POST', `/tools/${id}/${encodeURIComponent(tool)}/call`, { arguments: args })
  let answer = await withSignIn(ask, linkInProblem)
  while (answer.status === 202) answer = await goOn(answer)
  return answer
}

/** What a server asks is answered with yes; what it leaves open, with its own defaults. */
async function goOn({ body }: Answer): Promise<Answer> {
  const { items } = (await api('GET', '/inputs')).body as unknown as { items: Array<Input> }
  for (const { id: inputId, question } of items.filter((one) => one.toolkit === id)) {
    const content = Object.keys(question.requestedSchema?.properties ?? {}).includes('confirmed')
      ? { confirmed: true }
      : {}
    await api('POST', `/inputs/${inputId}`, { action: 'accept', content })
  }
  await new Promise((resolve) => setTimeout(resolve, 50))
  return api('GET', `/calls/${String(body.callId)}`)
}

interface Input {
  id: string
  toolkit: string
  question: { requestedSchema?: { properties?: Record<string, unknown> } }
}

function authFor(): Record<string, unknown> | undefined {
  const { client_id: clientId, client_secret: clientSecret } = context
  switch (scenario) {
    case 'auth/client-credentials-basic':
      return { type: 'oauth', grant: 'client_credentials', clientId, clientSecret }
    case 'auth/client-credentials-jwt': {
      const { private_key_pem: privateKey, signing_algorithm: algorithm = 'ES256' } = context
      return { type: 'oauth', grant: 'client_credentials', clientId, privateKey, algorithm }
    }
    case 'auth/wif-jwt-bearer':
      return { type: 'oauth', grant: 'jwt_bearer', clientId, assertion: context.valid_jwt }
    case 'auth/enterprise-managed-authorization': {
      const { idp_token_endpoint: idpTokenEndpoint, idp_client_id: idpClientId, idp_id_token: idToken } = context
      return { type: 'oauth', grant: 'enterprise', clientId, clientSecret, idpTokenEndpoint, idpClientId, idToken }
    }
    case 'auth/pre-registration':
      return { type: 'oauth', clientId, clientSecret }
    default:
      return undefined
  }
}

async function skills(): Promise<void> {
  const { body } = await api('GET', `/mcp/${id}/skills`)
  if (scenario === 'sep-2640-client-no-prefetch') return
  for (const { uri } of (body.items ?? []) as Array<{ uri: string }>)
    await api('GET', `/mcp/${id}/skills/read?skill=${encodeURIComponent(uri)}`)
}

/** Every tool with what the suite wants it to be called with. */
async function callAll(tools: Tool[]): Promise<void> {
  const calls = (context.toolCalls ?? []) as Array<{ name: string; arguments?: Record<string, unknown> }>
  if (calls.length > 0) {
    for (const one of calls) await call(one.name, one.arguments ?? {})
    return
  }
  const focal = tools.find(({ name }) => name === 'json_schema_2020_12_tool')
  if (focal) {
    await call('json_schema_echo', { schema: focal.inputSchema })
    return
  }
  if (scenario === 'json-schema-ref-no-deref') return
  if (scenario === 'sep-2322-client-request-state') {
    // Another call goes out while the first waits for its answer: nothing of the one may be in the other.
    await Promise.all(tools.map(({ name }) => call(name)))
    return
  }
  for (const { name, inputSchema } of tools) await call(name, sampleOf(inputSchema))
}

const SAMPLES: Record<string, unknown> = { string: 'text', number: 2, integer: 2, boolean: true, array: [], object: {} }

/** Something for each parameter that must be given. */
function sampleOf({ required = [], properties = {} }: { required?: string[]; properties?: Record<string, Named> }) {
  return Object.fromEntries(required.map((name) => [name, SAMPLES[properties[name]?.type ?? 'string']]))
}

interface Named {
  type?: string
}

try {
  const tools = await register(authFor())
  if (scenario.startsWith('sep-2640')) await skills()
  else await callAll(tools)
  process.exitCode = 0
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  await api('DELETE', `/mcp/${id}`).catch(() => {})
}
