/** Users of `isolation.ts` and the requests for every route. A route that is missing here is a finding. */
export const USERS = ['ann', 'bob'] as const
export type User = (typeof USERS)[number]
export const OPERATOR = 'olga'
export type Who = User | typeof OPERATOR

/** In every name, title, description, secret and result of a user, and in nothing of anybody else. */
export const MARKS: Record<User, string> = { ann: 'mark-7f3a91', bob: 'mark-2c9d58' }

/** What one user has. `kit` and `trip` are ids that both have; these nobody else has. */
export interface Things {
  kitUscoId: string
  onlyKit: string
  onlyUscoId: string
  onlyThread: string
  callId: string
  inputId: string
  keyId: string
  approvalId: string
  grantId: string
  resultId: string
  runId: string
  workflowId: string
}

/** Which things a path names, by its beginning. The first name is the one that belongs to somebody. */
export const PARAMS: Record<string, (things: Things) => Array<Record<string, string>>> = {
  '/api/mcp/{id}': ({ onlyKit, onlyUscoId, kitUscoId }) =>
    [onlyKit, onlyUscoId, kitUscoId].map((id) => ({ id, name: 'simple-prompt' })),
  '/api/threads/{id}': ({ onlyThread }) => [{ id: onlyThread }],
  '/api/calls/{id}': ({ callId }) => [{ id: callId }],
  '/api/keys/{id}': ({ keyId }) => [{ id: keyId }],
  '/api/inputs/{id}': ({ inputId }) => [{ id: inputId }],
  '/api/approvals/{id}': ({ approvalId }) => [{ id: approvalId }],
  '/api/grants/{id}': ({ grantId }) => [{ id: grantId }],
  '/api/results/{id}': ({ resultId }) => [{ id: resultId }],
  '/api/runs/{id}': ({ runId }) => [{ id: runId, step: 'any' }],
  '/api/workflows/{id}': ({ workflowId }) => [{ id: workflowId }],
  '/api/tools/{toolkit}/{tool}/call': ({ onlyKit, onlyUscoId, kitUscoId }) =>
    [onlyKit, onlyUscoId, kitUscoId].map((toolkit) => ({ toolkit, tool: 'echo' })),
  '/api/tools/{toolkit}/{tool}/declaration': ({ onlyKit, onlyUscoId, kitUscoId }) =>
    [onlyKit, onlyUscoId, kitUscoId].map((toolkit) => ({ toolkit, tool: 'echo' })),
  // A user is no thing that could be hidden, and removing one that is there is what operators do.
  '/api/users/{id}': () => [{ id: 'nobody-either' }],
  // Keys of providers belong to who sends them; there is no other's to name.
  '/api/models/{provider}': () => [{ provider: 'nobody' }],
  '/api/app/models/{provider}': () => [{ provider: 'nobody' }],
  '/api/app/toolkits/{id}': ({ onlyKit, onlyUscoId, kitUscoId }) =>
    [onlyKit, onlyUscoId, kitUscoId].map((id) => ({ id })),
}

/** What is sent where a path names a thing: valid, so that no other refusal hides the one that is looked for. */
export const BODIES: Record<string, object | null> = {
  'PATCH /api/mcp/{id}': { enabled: true },
  'POST /api/mcp/{id}/introspect': null,
  'POST /api/mcp/{id}/cancel': null,
  'POST /api/mcp/{id}/accept': { all: true },
  'POST /api/mcp/{id}/prompts/{name}': {},
  'POST /api/mcp/{id}/resources/read': {
    uriTemplate: 'demo://resource/dynamic/text/{resourceId}',
    arguments: { resourceId: '1' },
  },
  'POST /api/mcp/{id}/complete': {
    ref: { prompt: 'completable-prompt' },
    argument: { name: 'department', value: 'E' },
  },
  'POST /api/tools/{toolkit}/{tool}/call': { arguments: { message: 'hi', text: 'hi' } },
  'POST /api/inputs/{id}': { action: 'decline' },
  'POST /api/approvals/{id}/answer': { decision: 'deny' },
  'PUT /api/threads/{id}/policy': { rules: [] },
  'PATCH /api/threads/{id}': { title: 'taken over' },
  'PUT /api/threads/{id}/activations': { toolkits: ['kit'] },
  'POST /api/threads/{id}/activations': { ref: 'kit.get-env', on: false },
  'POST /api/threads/{id}/resolve': { prompt: 'echo' },
  'POST /api/threads/{id}/loaded': { refs: ['kit.echo'] },
  'POST /api/threads/{id}/run': { program: 'return 1' },
  'POST /api/threads/{id}/messages': { message: 'hi' },
  'PUT /api/models/{provider}/key': { key: 'k' },
  'PUT /api/app/models/{provider}/key': { key: 'k' },
  'POST /api/calls/{id}/cancel': null,
  'POST /api/runs/{id}/cancel': null,
  'POST /api/runs/{id}/rerun': { from: 'a' },
  'PUT /api/workflows/{id}': { name: 'taken over', nodes: [{ id: 'a', type: 'approval', message: 'x' }] },
  'POST /api/workflows/{id}/check': null,
  'POST /api/runs/{id}/steps/{step}': { decision: 'fail' },
  'PATCH /api/app/toolkits/{id}': { enabled: false },
  'PATCH /api/users/{id}': { operator: true },
  'POST /api/users/{id}/link': null,
}

export const QUERIES: Record<string, string> = {
  // All of it would repeat what was asked for, and looking is itself a call that it tells of.
  'GET /api/audit': '?action=toolkit_registered',
  'GET /api/usage/history': '?ref=kit.echo',
  'GET /api/tools': '?q=echo',
  'GET /api/policy/decisions': '?toolkit=kit',
  'GET /api/mcp/{id}/skills/read': '?skill=skill://x/SKILL.md',
  'GET /api/mcp/{id}/resources/read': `?uri=${encodeURIComponent('demo://resource/static/document/architecture.md')}`,
}

/** These answer for as long as somebody listens; they are listened to all the while. */
export const STREAMS: ReadonlySet<string> = new Set(['GET /api/events'])

/** For people who come back from elsewhere: without what they bring there is nothing to see. */
export const PAGES: ReadonlySet<string> = new Set(['GET /api/oauth/callback'])

/** These have nothing to give for the servers of this test, whoever asks. */
export const REFUSED: ReadonlySet<string> = new Set([
  'GET /api/mcp/{id}/skills/read',
  // There is no such provider.
  'PUT /api/models/{provider}/key',
  'DELETE /api/models/{provider}/key',
  // There is no model to ask.
  'POST /api/threads/{id}/messages',
  // It is over.
  'POST /api/calls/{id}/cancel',
  'POST /api/runs/{id}/cancel',
  'POST /api/runs/{id}/steps/{step}',
  // It is a program.
  'POST /api/runs/{id}/rerun',
])

export const OPERATORS = /^\/api\/((app|users)\/|(policy|users)$)/

/** What belongs to a cookie has cases of its own, in `sign-in-cases.ts`. */
export const COOKIES = /^\/api\/auth\/(?!session$)/

interface Named {
  body?: object
  query?: string
  status: number
}
const custom = { tools: [{ name: 'a', inputSchema: { type: 'object' }, execute: 'return 1' }] }

/** Routes that name things elsewhere than in their path, with the other's. To give a new thing the other's id is no crime. */
export const WRITES: Record<string, (theirs: Things, other: User) => Named> = {
  'POST /api/mcp/config': ({ onlyUscoId }) => ({
    body: { uscoId: onlyUscoId, name: 'taken over', config_json: custom },
    status: 404,
  }),
  'POST /api/workflow/invoke': ({ workflowId }) => ({ body: { workflowId }, status: 404 }),
  'POST /api/workflows': () => ({
    body: { name: 'another', nodes: [{ id: 'a', type: 'approval', message: 'x' }] },
    status: 201,
  }),
  'POST /api/workflows/validate': () => ({ body: { name: 'w', nodes: [] }, status: 200 }),
  'GET /api/workflows': ({ workflowId }) => ({ query: `?cursor=${workflowId}`, status: 200 }),
  'POST /api/mcp/config/check': ({ onlyUscoId }) => ({
    body: { uscoId: onlyUscoId, name: 'looked at', config_json: custom },
    status: 404,
  }),
  'GET /api/policy/decisions': ({ onlyUscoId }) => ({ query: `?toolkit=${onlyUscoId}`, status: 404 }),
  'POST /api/grants': ({ onlyKit }) => ({ body: { ref: `${onlyKit}.echo`, decision: 'allow' }, status: 404 }),
  'POST /api/mcp/config/introspect': ({ onlyUscoId }) => ({ body: { uscoId: onlyUscoId }, status: 404 }),
  'POST /api/mcp/config/try': ({ onlyUscoId }) => ({
    body: { uscoId: onlyUscoId, config_json: custom, tool: 'a', allow: true },
    status: 404,
  }),
  'GET /api/mcp/config/tools': ({ kitUscoId }) => ({ query: `?uscoId=${kitUscoId}`, status: 404 }),
  'GET /api/audit': (_, other) => ({ query: `?userId=${other}`, status: 403 }),
  'GET /api/threads': ({ onlyThread }) => ({ query: `?cursor=${onlyThread}`, status: 200 }),
  'POST /api/mcp': ({ onlyKit }) => ({ body: { id: onlyKit, name: 'another', ...custom }, status: 201 }),
  'POST /api/mcp/import': () => ({ body: { mcpServers: { kit: custom } }, status: 200 }),
  'POST /api/threads': ({ onlyThread }) => ({ body: { id: onlyThread, title: 'another' }, status: 201 }),
  'PATCH /api/preferences': () => ({ body: { costLimits: { maxCallsPerHour: 1 } }, status: 200 }),
  // A user is no thing that could be hidden; that only operators may is told for every user id.
  'POST /api/keys': (_, other) => ({ body: { name: 'taken over', userId: other }, status: 403 }),
  'POST /api/app/toolkits': ({ onlyKit }) => ({ body: { id: onlyKit, name: 'for all', ...custom }, status: 403 }),
  // By now there is one of the same id, of one's own, which has no server.
  'POST /api/oauth/start': ({ onlyKit }) => ({ body: { toolkit: onlyKit }, status: 422 }),
  'POST /api/oauth/disconnect': ({ onlyKit }) => ({ body: { toolkit: onlyKit }, status: 422 }),
  'POST /api/oauth/confirm': () => ({ body: { state: 'theirs', code: 'x' }, status: 400 }),
  'GET /api/oauth/callback': () => ({ query: '?state=theirs&code=x', status: 400 }),
  'GET /api/tools': ({ onlyThread }) => ({ query: `?q=echo&threadId=${onlyThread}`, status: 200 }),
  'POST /api/users': () => ({ body: { email: 'eve@example.com', operator: true }, status: 403 }),
  'PUT /api/policy': () => ({ body: { rules: [] }, status: 403 }),
  'PUT /api/policy/own': () => ({ body: { rules: [] }, status: 200 }),
  'POST /api/app/keys/rotate': () => ({ status: 403 }),
  'PATCH /api/app/config': () => ({ body: { defaults: { deferLoading: false } }, status: 403 }),
}
