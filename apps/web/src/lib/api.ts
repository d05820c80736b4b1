/** Typed API client, its errors, and shared queries. */
import type { AppType } from '@loadout/server/api'
import { MutationCache, QueryCache, QueryClient, queryOptions } from '@tanstack/react-query'
import { type ClientResponse, hc, type InferRequestType, type InferResponseType } from 'hono/client'
import { BASE_PATH } from './base-path.ts'

export const client = hc<AppType>(`${BASE_PATH}/`)

/** A listed toolkit, whose tools may have no schemas. */
export type Toolkit = InferResponseType<typeof client.api.mcp.$get, 200>['toolkits'][number]
export type ToolkitStatus = Toolkit['state']['status']
export type ToolkitBody = InferRequestType<typeof client.api.mcp.$post>['json']
/** Problem document of any route. */
export type Problem = InferResponseType<typeof client.api.mcp.$get, 500>

export class ProblemError extends Error {
  readonly problem: Problem

  constructor(problem: Problem) {
    super(problem.detail)
    this.name = 'ProblemError'
    this.problem = problem
  }
}

// A route's `default` response (the problem) covers every other status, including 500.
type GoodBody<R> = R extends ClientResponse<infer T, infer S, string> ? (500 extends S ? never : T) : never

/** Returns the body of a successful response; throws `ProblemError` for a problem or an unreachable server. */
export async function answer<R extends ClientResponse<unknown>>(request: Promise<R>): Promise<GoodBody<R>> {
  const response = await request.catch(() => {
    throw new ProblemError(unreachable)
  })
  if (response.ok) return (response.status === 204 ? undefined : await response.json()) as GoodBody<R>
  throw new ProblemError(await readProblem(response))
}

export function problemOf(error: unknown): Problem {
  if (error instanceof ProblemError) return error.problem
  return { ...unreadable, detail: error instanceof Error ? error.message : String(error) }
}

async function readProblem(response: ClientResponse<unknown>): Promise<Problem> {
  const isProblem = response.headers.get('content-type')?.startsWith('application/problem+json')
  if (isProblem) {
    const problem = (await response.json()) as Problem
    return { ...problem, detail: plainly(problem.detail) }
  }
  return { ...unreadable, status: response.status, detail: `The server answered with status ${response.status}.` }
}

/** `(body)`, the API's path of a whole body, is meaningless in a form. */
export const plainly = (detail: string): string => detail.replaceAll('(body): ', 'It ')

const unreachable: Problem = {
  type: 'about:blank',
  title: 'The server does not answer',
  status: 0,
  code: 'unreachable',
  detail: 'Loadout could not be reached from this page.',
  action: 'Check that it is still running, then try again.',
  requestId: '',
}
const unreadable: Problem = {
  ...unreachable,
  title: 'The answer could not be read',
  code: 'unreadable',
  action: 'Reload the page. If it stays so, look at the server’s log.',
}

export const toolkitsQuery = () =>
  queryOptions({
    queryKey: ['toolkits'],
    queryFn: async ({ signal }) => (await answer(client.api.mcp.$get({ query: {} }, { init: { signal } }))).toolkits,
  })

/** One toolkit with tool schemas. */
export const toolkitQuery = (uscoId: string | undefined) =>
  queryOptions({
    queryKey: ['toolkits', 'whole', uscoId],
    queryFn: ({ signal }) =>
      answer(client.api.mcp[':id'].$get({ param: { id: uscoId as string } }, { init: { signal } })) as Promise<Toolkit>,
    enabled: uscoId !== undefined,
  })

/** All toolkits with tool schemas; large with many servers. */
export const wholeToolkitsQuery = () =>
  queryOptions({
    queryKey: ['toolkits', 'with-schemas'],
    queryFn: async ({ signal }) =>
      (await answer(client.api.mcp.$get({ query: { include: 'schemas' } }, { init: { signal } }))).toolkits,
  })

export const healthQuery = () =>
  queryOptions({
    queryKey: ['health'],
    queryFn: () => answer(client.healthz.$get()),
    staleTime: Number.POSITIVE_INFINITY,
  })

// Only transient errors are retried.
const mayPass = (error: Error) => [0, 502, 503, 504].includes(problemOf(error).status)

export function createQueryClient(): QueryClient {
  // A 401 on any query refetches the session; the shell then shows the sign-in.
  const onError = (error: Error) => {
    if (problemOf(error).code === 'unauthenticated') client.invalidateQueries({ queryKey: ['session'] })
  }
  const client = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: { queries: { staleTime: 5_000, retry: (count, error) => count < 2 && mayPass(error) } },
  })
  return client
}
