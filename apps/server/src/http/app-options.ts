import type { Host } from '@loadout/core'
import type { Models } from '@loadout/core/agents/models'
import type { HostServices } from '@loadout/core/services'
import type { ApiKeys } from '../auth/api-keys.ts'
import type { SignIn } from '../auth/sign-in.ts'
import type { Log } from '../ops/log.ts'
import type { StartSettings } from '../routes/operator/app.ts'
import type { MetricsOptions } from '../routes/operator/metrics.ts'
import type { Authenticate } from './middleware.ts'

export interface AppOptions {
  /** A host of `createHost`, or its services. */
  host: Host | HostServices
  /** Returns the principal of a request. Replace it to use your own users. */
  authenticate: Authenticate
  /** Accepts only requests with a loopback Host header, for a server without sign-in. @default false */
  loopbackOnly?: boolean
  /** Public URL, if it differs from the server's own address. */
  publicUrl?: string | undefined
  /**
   * Path in front of the API and the UI, such as `/tools`. Requests that arrive without it are served too, because
   * Express, Hono and some reverse proxies strip the path that they mount an app at. @default the path of `publicUrl`
   */
  basePath?: string | undefined
  /** Folder of the built web UI: `webFolder` of `@loadout/server/web`. Without it only the API is served. */
  webDir?: string | undefined
  /** OAuth client metadata for authorization servers. */
  clientMetadata?: Record<string, unknown> | undefined
  apiKeys?: ApiKeys
  /** Built-in sign-in, which `authenticate` must use too. An app with its own users needs none. */
  signIn?: SignIn | undefined
  /** Number of reverse proxies, each adding to `X-Forwarded-For`. @default 0 */
  proxies?: number
  /** Models of chats and agents. @default the models that users have keys for */
  models?: Models
  /** Start settings shown to operators. */
  settings?: StartSettings
  /** @default a log that writes responses with status 5xx to `console.error` */
  log?: Log
  /** Enables `GET /metrics` for operators. */
  metrics?: MetricsOptions
  version?: string
  /** Ends event streams and refuses new requests, so that a server can stop. */
  stopping?: AbortSignal
}
