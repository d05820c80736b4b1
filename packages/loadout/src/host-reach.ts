/** What reaches servers, who is signed in to them, and what is known of their tools. */

import type { FetchLike } from '@modelcontextprotocol/client'
import type { Inputs } from './calls/inputs.ts'
import { type Catalog, createCatalog } from './catalog/catalog.ts'
import { type Connector, createConnector } from './connections/connector.ts'
import { webDrivers } from './connections/web-drivers.ts'
import type { CredentialStore } from './credentials/credential-store.ts'
import { HostError } from './errors.ts'
import type { Emitter } from './events.ts'
import type { HostOptions } from './host-options.ts'
import type { AppConfig } from './schema/app-config.ts'
import type { Tier } from './schema/scope.ts'
import type { RemoteServer } from './schema/server.ts'
import { createSessionStore } from './sign-in/session-store.ts'
import { createSignIns, type SignIns } from './sign-in/sign-ins.ts'
import type { ReadCache, Storage } from './storage/storage.ts'
import type { Telemetry } from './telemetry/telemetry.ts'
import { fillSecrets } from './toolkits/secrets.ts'
import type { StoredToolkit } from './toolkits/stored-toolkit.ts'

export interface ReachParts {
  storage: Storage
  cache: ReadCache
  events: Emitter
  credentials: CredentialStore
  inputs: Inputs
  app: { get(): Promise<AppConfig> }
}

export interface Reach {
  /** What leaves for other reasons than a call of a server. */
  fetchFor(tier: Tier): FetchLike
  connector: Connector
  catalog: Catalog
  signIns: SignIns
}

export function createReach(parts: ReachParts, options: HostOptions, telemetry: Telemetry): Reach {
  const { storage, cache, events, credentials, inputs, app } = parts
  const { toolCacheTtlMs: ttlMs, pool, startup, drivers = webDrivers() } = options
  const fetchFor: Reach['fetchFor'] = (tier) => drivers.fetch?.(tier) ?? NO_FETCH
  const signIns = createSignIns({
    storage,
    events,
    options: options.signIn ?? {},
    store: createSessionStore({ storage, cache, credentials }),
    fetchFor,
    assertAllowed: async (url, tier) => drivers.assertAllowed?.(url, tier),
    fill: async ({ toolkit, userId, uscoId }: StoredToolkit) =>
      fillSecrets(toolkit.server, await credentials.open({ userId, toolkit: uscoId })) as RemoteServer,
    onChanged: (uscoId, userId) => connector.reset(uscoId, userId),
  })
  events.on('toolkit-removed', ({ uscoId }) => void signIns.forgetToolkit(uscoId).catch(() => {}))
  const connector: Connector = createConnector({
    drivers,
    events,
    telemetry,
    ask: inputs.ask,
    startup,
    ...(pool ? { pool } : {}),
    secrets: (owner) => credentials.open(owner),
    auth: (stored, userId, server) => signIns.authFor(stored, userId, server),
    tokens: (stored, userId) => signIns.secretsOf(stored, userId),
    onToolsChanged: (stored, userId) => void catalog.changed(stored, userId).catch(() => {}),
  })
  const catalog: Catalog = createCatalog({
    storage,
    cache,
    connector,
    events,
    app,
    isSignedIn: async (stored, userId) => (await signIns.view(stored, userId))?.status === 'signed-in',
    ...(ttlMs === undefined ? {} : { ttlMs }),
  })
  return { connector, catalog, signIns, fetchFor }
}

/** Drivers that do not say how to leave are not gone around. */
const NO_FETCH: FetchLike = () =>
  Promise.reject(new HostError('address-blocked', { detail: 'The drivers have no fetch.' }))
