/**
 * Exports toolkits as a config for other apps. Each secret becomes a placeholder with a unique, readable name.
 * Loadout-only settings go under `loadout`, so that an import restores the same toolkits.
 */

import { slugFrom } from '../schema/ids.ts'
import type { JsonObject } from '../schema/json.ts'
import type { ExportedConfig, ExportFormat } from '../schema/records/import-report.ts'
import type { Auth, CustomServer, RemoteServer, Server } from '../schema/toolkit/server.ts'
import { toolkitOptions } from '../schema/toolkit/toolkit.ts'
import { PORTABLE_FIELDS } from './import/quirks.ts'
import { nameSecrets } from './secrets/name-secrets.ts'
import { isSecretField } from './secrets/secret-values.ts'
import { PLACEHOLDER } from './secrets/url-secrets.ts'
import type { StoredToolkit } from './stored-toolkit.ts'

export interface ExportOptions {
  /** @default 'mcpServers' */
  format?: ExportFormat
}

export function exportToolkits(
  toolkits: readonly StoredToolkit[],
  { format = 'mcpServers' }: ExportOptions = {},
): ExportedConfig {
  const readable = toolkits.filter(({ toolkit }) => toolkit.server.type !== 'custom')
  const names = nameSecrets(readable)
  const write = (name: string) => (format === 'vscode' ? `\${input:${name}}` : `\${${name}}`)
  const servers = Object.fromEntries(
    readable.map((stored) => {
      const secret = (field: string) => write(names.nameOf(stored.uscoId, field))
      return [stored.toolkit.id, entryOf(stored, format, secret)]
    }),
  )
  const skipped = toolkits
    .filter(({ toolkit }) => toolkit.server.type === 'custom')
    .map(({ toolkit: { id, name } }) => ({
      id,
      name,
      reason: 'A custom toolkit has no server that another app reaches.',
    }))
  const rest = skipped.length > 0 ? { skipped } : {}
  if (format === 'mcpServers') return { mcpServers: servers, ...rest }
  const inputs = names.entries.map(({ name, toolkit, field }) => ({
    type: 'promptString' as const,
    id: name,
    description: `${field} of ${toolkit}`,
    password: isSecretField(field),
  }))
  return { inputs, servers, ...rest }
}

function withSecrets(value: unknown, secret: (field: string) => string): unknown {
  if (typeof value === 'string') return value.replace(PLACEHOLDER, (_, field: string) => secret(field))
  if (Array.isArray(value)) return value.map((item) => withSecrets(item, secret))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withSecrets(inner, secret)]))
}

function entryOf({ toolkit }: StoredToolkit, format: ExportFormat, secret: (field: string) => string): JsonObject {
  const server = toolkit.server as Exclude<Server, CustomServer>
  const { fields, auth } = server.type === 'stdio' ? stdioFields(server, format) : remoteFields(server)
  const extension = { ...ownNames(toolkit), ...changedOptions(toolkit), ...(auth === undefined ? {} : { auth }) }
  return {
    ...(withSecrets(fields, secret) as JsonObject),
    ...(toolkit.enabled ? {} : { disabled: true }),
    ...(Object.keys(extension).length > 0 ? { loadout: extension } : {}),
  }
}

interface Fields {
  fields: JsonObject
  /** How headers represent the auth setting, if they do. */
  auth?: 'bearer' | string[] | undefined
}

function stdioFields(server: Extract<Server, { type: 'stdio' }>, format: ExportFormat): Fields {
  const { command, args, env, cwd, template, values, hosts } = server
  const fields = {
    // When a type is optional, more apps read a config without it.
    ...(format === 'vscode' ? { type: 'stdio' } : {}),
    ...(command === undefined ? {} : { command }),
    ...(args.length > 0 ? { args } : {}),
    ...(Object.keys(env).length > 0 ? { env } : {}),
    ...(cwd === undefined ? {} : { cwd }),
    ...(template === undefined ? {} : { template }),
    ...(values === undefined ? {} : { values }),
    ...(hosts === undefined ? {} : { hosts }),
  }
  return { fields }
}

function remoteFields({ type, url, headers, auth }: RemoteServer): Fields {
  const signIn = headersOf(auth)
  const taken = new Set(Object.keys(headers).map((name) => name.toLowerCase()))
  // When both set the same header, only the unmerged record says which one is sent.
  const clash = Object.keys(signIn).some((name) => taken.has(name.toLowerCase()))
  const mergedHeaders = clash ? headers : { ...headers, ...signIn }
  return {
    fields: {
      type,
      url,
      ...(Object.keys(mergedHeaders).length > 0 ? { headers: mergedHeaders } : {}),
      ...(auth.type === 'oauth' ? { oauth: oauthFields(auth) } : {}),
      ...(clash || (auth.type === 'headers' && Object.keys(signIn).length === 0) ? { auth } : {}),
    },
    auth: clash ? undefined : auth.type === 'bearer' ? 'bearer' : namesOf(signIn),
  }
}

const namesOf = (headers: Record<string, string>) => {
  const names = Object.keys(headers)
  return names.length > 0 ? names : undefined
}

function headersOf(auth: Auth): Record<string, string> {
  if (auth.type === 'bearer') return { Authorization: `Bearer ${auth.token}` }
  return auth.type === 'headers' ? auth.headers : {}
}

// Claude Code reads the scopes as one text.
function oauthFields({ type: _type, scopes, ...rest }: Extract<Auth, { type: 'oauth' }>): JsonObject {
  if (scopes === undefined) return rest
  return { ...rest, scopes: scopes.some((scope) => /\s/.test(scope)) ? scopes : scopes.join(' ') }
}

function ownNames({ id, name }: StoredToolkit['toolkit']): JsonObject {
  if (name !== id) return { name }
  return slugFrom(name) === id ? {} : { id }
}

function changedOptions(toolkit: StoredToolkit['toolkit']): JsonObject {
  const defaults = toolkitOptions.parse({})
  const changed = PORTABLE_FIELDS.filter(
    (field) => toolkit[field] !== undefined && JSON.stringify(toolkit[field]) !== JSON.stringify(defaults[field]),
  )
  return Object.fromEntries(changed.map((field) => [field, toolkit[field]]))
}
