/** Routes of the HTTP API with their types, which clients infer their calls from. `app.ts` is the public handler. */
import { OpenAPIHono } from '@hono/zod-openapi'
import { HostError } from '@loadout/core'
import { createModels } from '@loadout/core/agents/models'
import { invalidInput } from '@loadout/core/schema'
import { type HostServices, toServices } from '@loadout/core/services'
import { compress } from 'hono/compress'
import { NONCE, secureHeaders } from 'hono/secure-headers'
import type { ZodError } from 'zod'
import { createApiKeys } from '../auth/api-keys.ts'
import { errorLog, requestLog } from '../ops/log.ts'
import { authRoutes, requireSession, SESSION_PATHS } from '../routes/account/auth.ts'
import { authLinkRoutes } from '../routes/account/auth-links.ts'
import { keyRoutes } from '../routes/account/keys.ts'
import { oauthPages, oauthRoutes } from '../routes/account/oauth.ts'
import { preferenceRoutes } from '../routes/account/preferences.ts'
import { userRoutes } from '../routes/account/users.ts'
import { callRoutes } from '../routes/calls.ts'
import { configRoutes } from '../routes/configs.ts'
import { eventRoutes } from '../routes/events.ts'
import { importRoutes } from '../routes/imports.ts'
import { messageRoutes } from '../routes/messages.ts'
import { appRoutes } from '../routes/operator/app.ts'
import { auditRoutes } from '../routes/operator/audit.ts'
import { backupRoutes } from '../routes/operator/backup.ts'
import { healthRoutes } from '../routes/operator/health.ts'
import { metricsRoutes } from '../routes/operator/metrics.ts'
import { modelRoutes } from '../routes/operator/models.ts'
import { policyRoutes } from '../routes/operator/policy.ts'
import { rotationRoutes } from '../routes/operator/rotation.ts'
import { stdioRoutes } from '../routes/operator/stdio.ts'
import { resourceRoutes } from '../routes/resources.ts'
import { runRoutes } from '../routes/runs.ts'
import { selectionRoutes } from '../routes/selections.ts'
import { startRoutes } from '../routes/starts.ts'
import { threadRoutes } from '../routes/threads.ts'
import { toolkitRoutes } from '../routes/toolkits.ts'
import { toolRoutes } from '../routes/tools.ts'
import { trialRoutes } from '../routes/trials.ts'
import { workflowRoutes } from '../routes/workflows.ts'
import { addDocument } from './api-document.ts'
import type { AppOptions } from './app-options.ts'
import type { Env } from './env.ts'
import {
  authenticated,
  basePathOf,
  checkOrigin,
  jsonBody,
  type NeedsBody,
  openUntil,
  requestId,
  stillOf,
  traceParent,
} from './middleware.ts'
import { sendProblem } from './problem.ts'

export type AppType = ReturnType<typeof createApi>

/** Options of `createApp` with a normalized base path. */
export interface ApiOptions extends AppOptions {
  basePath: string
}

export function createApi({
  host: hostOrServices,
  authenticate,
  loopbackOnly = false,
  publicUrl,
  clientMetadata,
  apiKeys,
  signIn,
  proxies = 0,
  models = createModels({ host: hostOrServices }),
  settings,
  log = errorLog(),
  metrics,
  version = '0.0.0',
  stopping = new AbortController().signal,
  basePath,
}: ApiOptions) {
  const host = toServices<HostServices>(hostOrServices)
  const app = new OpenAPIHono<Env>({
    defaultHook: (result) => {
      if (!result.success) throw invalidInput(result.error as unknown as ZodError)
    },
  })
  app.use(requestId())
  app.use(basePathOf(basePath))
  app.use(traceParent())
  app.use(requestLog(log))
  app.use(compress())
  app.use(securityHeaders(publicUrl))
  app.use('/api/*', openUntil(stopping))
  app.use('/api/*', checkOrigin({ loopbackOnly, publicUrl }))
  app.route('/api', oauthPages(host, authenticate, signIn?.people))
  const body = jsonBody(bodiesOf(app))
  app.onError((thrown, c) => {
    const error = HostError.from(thrown)
    // `refused-by-server` is a response of a healthy server, not a failure of this one.
    if (error.status >= 500 && error.code !== 'refused-by-server')
      log.error({ err: error, cause: error.cause, requestId: c.get('requestId') }, error.code)
    return sendProblem(c, error)
  })
  app.notFound((c) => {
    const allow = methodsAt(app, c.req.path)
    if (allow.length === 0)
      return sendProblem(
        c,
        new HostError('not-found', { detail: `There is nothing at ${c.req.method} ${c.req.path}.` }),
      )
    const methods = allow.join(', ')
    const detail = `\`${c.req.path}\` has no method \`${c.req.method}\`.`
    return sendProblem(c, new HostError('method-not-allowed', { detail, action: `Use ${methods}.` }), {
      allow: methods,
    })
  })

  addDocument(app, { version, basePath })
  if (clientMetadata) app.get('/client-metadata.json', (c) => c.json(clientMetadata, 200))
  const mode = loopbackOnly ? 'local' : 'multi-user'
  const authDeps = { signIn, authenticate, mode, publicUrl, proxies } as const
  // Sign-in has no principal yet; every other route reads a body only after its caller is known.
  for (const path of SESSION_PATHS) app.use(`/api${path}`, requireSession(authDeps))
  app.use('/api/auth/*', body)
  const open = app.route('/api', authRoutes(authDeps)).route('/api', authLinkRoutes(authDeps))
  app.use('/api/*', authenticated(authenticate))
  app.use('/api/*', body)
  if (metrics) {
    // With sign-in, a scraper uses a key and may know the server by another host name.
    if (loopbackOnly) app.use('/metrics', checkOrigin({ loopbackOnly, publicUrl }))
    app.route('/', metricsRoutes(metrics, authenticate))
  }
  return open
    .route('/', healthRoutes(host, version))
    .route('/api', configRoutes(host))
    .route('/api', trialRoutes(host))
    .route('/api', importRoutes(host))
    .route('/api', toolkitRoutes(host))
    .route('/api', startRoutes(host))
    .route('/api', stdioRoutes(settings ?? {}))
    .route('/api', resourceRoutes(host))
    .route('/api', callRoutes(host))
    .route('/api', oauthRoutes(host))
    .route('/api', policyRoutes(host))
    .route('/api', threadRoutes(host))
    .route('/api', selectionRoutes(host))
    .route('/api', messageRoutes(host, models, stopping))
    .route('/api', modelRoutes(host, models))
    .route('/api', runRoutes(host))
    .route('/api', workflowRoutes(host))
    .route('/api', appRoutes(host, settings))
    .route('/api', eventRoutes(host, stopping, stillOf(authenticate)))
    .route('/api', preferenceRoutes(host))
    .route('/api', backupRoutes(host))
    .route('/api', rotationRoutes(host))
    .route('/api', auditRoutes(host))
    .route('/api', toolRoutes(host))
    .route('/api', userRoutes(host, signIn))
    .route('/api', keyRoutes(apiKeys ?? createApiKeys(host.storage, host.audit.record)))
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** Methods that a path has a route for. Middleware matches every method and does not count. */
function methodsAt(app: OpenAPIHono<Env>, path: string): string[] {
  return METHODS.filter((method) => app.router.match(method, path)[0].some(([[, route]]) => route.method === method))
}

/** Routes that need a body, read from their descriptions on first use, when all routes are registered. */
function bodiesOf(app: OpenAPIHono<Env>): NeedsBody {
  let needed: ReadonlySet<string> | undefined
  return (method, path) => {
    needed ??= new Set(
      app.openAPIRegistry.definitions.flatMap((definition) =>
        definition.type === 'route' && definition.route.request?.body?.required
          ? [`${definition.route.method.toUpperCase()} ${definition.route.path.replaceAll(/\{(\w+)\}/g, ':$1')}`]
          : [],
      ),
    )
    return needed.has(`${method} ${path}`)
  }
}

const securityHeaders = (publicUrl: string | undefined) =>
  secureHeaders({
    contentSecurityPolicy: CONTENT_SECURITY_POLICY,
    xFrameOptions: 'DENY',
    crossOriginOpenerPolicy: false,
    // HSTS applies only to the host of an https public URL, not to its subdomains.
    strictTransportSecurity: publicUrl !== undefined && new URL(publicUrl).protocol === 'https:' && 'max-age=15552000',
  })

// The UI loads only its own scripts and styles.
const CONTENT_SECURITY_POLICY = {
  defaultSrc: ["'self'"],
  scriptSrc: ["'self'"],
  // Editors and dialogs insert styles at run time with the nonce; tool output cannot know it.
  styleSrc: ["'self'", NONCE],
  imgSrc: ["'self'", 'data:'],
  // Audio in tool results.
  mediaSrc: ["'self'", 'data:'],
  connectSrc: ["'self'"],
  frameAncestors: ["'none'"],
  baseUri: ["'none'"],
  formAction: ["'self'"],
}
