/**
 * Canonical server record. `read-toolkit.ts` converts every other spelling to it. In stored records secrets are
 * `${secret:field}` placeholders (see `credentials/`).
 */
import { z } from 'zod'
import { globProblem } from '../glob.ts'
import { hostPattern } from '../host-pattern.ts'
import { jsonObject, objectSchema, safeRecord } from '../json.ts'
import { allowedCallers, annotations, toolExamples, toolName } from './tool.ts'

const noNul = (value: string) => !value.includes('\0')

const text = z.string().max(8192).refine(noNul, 'must not hold a NUL character')
const command = text
  .min(1, 'must not be empty')
  .refine((value) => value.trim() === value, 'must not begin or end with a space')
const envName = /^[^=\0\s][^=\0]*$/
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

const env = safeRecord(text, { keys: { form: envName, message: 'is not a name that an environment takes' } })
const headerValue = z
  .string()
  .max(8192)
  .regex(/^[^\r\n\0]*$/, 'must not hold a line break')
const headers = safeRecord(headerValue, { keys: { form: headerName, message: 'is not an HTTP header name' } })

const url = z
  .string()
  .max(4096)
  .refine((value) => parseUrl(value) !== undefined, 'must be an absolute http:// or https:// URL')

export const auth = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('none') }),
  z.strictObject({ type: z.literal('bearer'), token: text.min(1, 'must not be empty') }),
  z.strictObject({ type: z.literal('headers'), headers }),
  z.strictObject({
    type: z.literal('oauth'),
    /** How tokens are obtained: by a user who signs in (the default), or without a user. */
    grant: z.enum(['authorization_code', 'client_credentials', 'jwt_bearer', 'enterprise']).optional(),
    clientId: text.optional(),
    clientSecret: text.optional(),
    scopes: z.array(z.string().min(1).max(200)).max(100).optional(),
    /** PEM key instead of a client secret, and its signature algorithm. */
    privateKey: text.optional(),
    algorithm: z.enum(['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA']).optional(),
    /** `jwt_bearer`: assertion of the workload's platform. */
    assertion: text.optional(),
    /** `enterprise`: identity provider, and its assertion about the user. */
    idpTokenEndpoint: url.optional(),
    idpClientId: text.optional(),
    idpClientSecret: text.optional(),
    idToken: text.optional(),
  }),
])
export type Auth = z.infer<typeof auth>

const templateId = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'must be the id of a template')

export const stdioServer = z
  .strictObject({
    type: z.literal('stdio'),
    /** Absent when `template` names an operator template. */
    command: command.optional(),
    args: z.array(text).max(256).default([]),
    env: env.default({}),
    cwd: text.min(1).optional(),
    /** Id of an operator template. */
    template: templateId.optional(),
    /** Values for the holes of the template. */
    values: safeRecord(text).optional(),
    /** Hosts that the sandboxed server may reach. Without any, it has no network. */
    hosts: z.array(hostPattern).max(64).optional(),
  })
  .superRefine((record, context) => {
    const add = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message })
    if (record.template === undefined) {
      if (record.command === undefined) add('command', 'is missing; a stdio server needs a command')
      if (record.values !== undefined) add('values', 'belong to a template; name one')
      return
    }
    if (record.command !== undefined) add('command', 'stands beside a template; give one of them')
    for (const field of ['args', 'env'] as const)
      if (Object.keys(record[field]).length > 0) add(field, 'are those of the template; leave them out')
    if (record.cwd !== undefined) add('cwd', 'is that of the template; leave it out')
    if (record.hosts !== undefined) add('hosts', 'are those of the template; leave them out')
  })
const remote = { url, headers: headers.default({}), auth: auth.default({ type: 'none' }) }
export const httpServer = z.strictObject({ type: z.literal('http'), ...remote })
export const sseServer = z.strictObject({ type: z.literal('sse'), ...remote })

const declaredTool = z
  .string()
  .min(1)
  .max(300)
  .superRefine((ref, context) => {
    const problem = globProblem(ref)
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem })
  })
const secretName = { form: /^[A-Za-z_][A-Za-z0-9_]*$/, message: 'must be a name of A-Z, a-z, 0-9 and "_"' }

/** A tool of a custom toolkit: a manifest and its code. `execute` is `ref:<name>` or code. */
export const customTool = z.strictObject({
  name: toolName.regex(/^[A-Za-z0-9_.-]{1,128}$/, 'must be 1 to 128 of A-Z, a-z, 0-9, "_", "-" and "."'),
  title: z.string().max(500).optional(),
  description: z.string().max(8192).optional(),
  inputSchema: objectSchema,
  outputSchema: jsonObject.optional(),
  annotations: z.looseObject(annotations.shape).optional(),
  execute: z.string().min(1, 'must be "ref:<name>" or code').max(262_144),
  examples: toolExamples.optional(),
  /** Override the toolkit's settings. */
  deferLoading: z.boolean().optional(),
  allowedCallers: allowedCallers.optional(),
  /** Tools of the scope that the code may call, as refs or globs. */
  tools: z.array(declaredTool).max(64).optional(),
  /** Hosts that the code may fetch from, within the operator's list. */
  hosts: z.array(hostPattern).max(64).optional(),
})
export const customServer = z
  .strictObject({
    type: z.literal('custom'),
    tools: z.array(customTool).min(1, 'must hold at least one tool').max(200),
    /** Secrets that the code reads as `secrets.NAME`. */
    secrets: safeRecord(text, { maxEntries: 64, keys: secretName }).optional(),
  })
  .superRefine((server, context) => {
    const seen = new Set<string>()
    server.tools.forEach((tool, index) => {
      if (seen.has(tool.name))
        context.addIssue({ code: 'custom', path: ['tools', index, 'name'], message: `"${tool.name}" is there twice` })
      seen.add(tool.name)
    })
  })

export const server = z.discriminatedUnion('type', [stdioServer, httpServer, sseServer, customServer])
export type Server = z.infer<typeof server>
export type StdioServer = z.infer<typeof stdioServer>
export type RemoteServer = z.infer<typeof httpServer> | z.infer<typeof sseServer>
export type CustomServer = z.infer<typeof customServer>
export type CustomTool = z.infer<typeof customTool>

export const CONFIG_TYPES = ['mcp_stdio', 'mcp_http', 'mcp_marketplace', 'custom'] as const
export const configType = z.enum(CONFIG_TYPES)
export type ConfigType = z.infer<typeof configType>

export function configTypeOf(record: Server, marketplaceId?: string | null): ConfigType {
  if (marketplaceId) return 'mcp_marketplace'
  if (record.type === 'custom') return 'custom'
  return record.type === 'stdio' ? 'mcp_stdio' : 'mcp_http'
}

function parseUrl(value: string): URL | undefined {
  // A secret placeholder is allowed in the URL; the rest must still parse.
  const parsed = URL.parse(value.replace(/\$\{secret:[^}]*\}/g, 'x'))
  return parsed && (parsed.protocol === 'http:' || parsed.protocol === 'https:') && parsed.hostname !== ''
    ? parsed
    : undefined
}
