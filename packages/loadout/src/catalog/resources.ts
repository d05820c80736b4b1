/** Resources, prompts and skills: read from the server on request, over the same connections. Secrets are masked; nothing is stored. */
import type { Completion, CompletionRequest, Connection, ListKind, SkillAddress } from '../connections/connection.ts'
import type { Connector } from '../connections/connector.ts'
import type { MaskValue } from '../connections/mask-values.ts'
import { HostError } from '../errors.ts'
import type { JsonObject } from '../schema/json.ts'
import type { Registry } from '../toolkits/registry.ts'
import { assertEnabled } from '../toolkits/stored-toolkit.ts'

export interface Resources {
  list(userId: string, toolkit: string): Promise<JsonObject[]>
  /** URI templates: a resource for each set of arguments. */
  templates(userId: string, toolkit: string): Promise<JsonObject[]>
  read(userId: string, toolkit: string, uri: string): Promise<JsonObject>
  /** Reads the resource that a URI template names with these arguments. */
  readTemplate(userId: string, toolkit: string, filled: FilledTemplate): Promise<JsonObject>
  /** Suggestions for an argument of a URI template. Empty where the server suggests nothing. */
  complete(userId: string, toolkit: string, partial: PartialArgument & { uriTemplate: string }): Promise<Completion>
}

export interface FilledTemplate {
  uriTemplate: string
  arguments: Record<string, string>
}

/** An argument while it is typed. */
export interface PartialArgument {
  argument: { name: string; value: string }
  /** The arguments that are already filled in. */
  arguments?: Record<string, string> | undefined
}

export interface Skills {
  /** Their entries; no file of them is read. */
  list(userId: string, toolkit: string): Promise<JsonObject[]>
  /** One file, checked against its entry. */
  read(userId: string, toolkit: string, address: SkillAddress): Promise<JsonObject>
}

export interface Prompts {
  list(userId: string, toolkit: string): Promise<JsonObject[]>
  get(userId: string, toolkit: string, prompt: { name: string; arguments: Record<string, string> }): Promise<JsonObject>
  /** Suggestions for an argument of a prompt. Empty where the server suggests nothing. */
  complete(userId: string, toolkit: string, partial: PartialArgument & { name: string }): Promise<Completion>
}

interface Address {
  userId: string
  toolkit: string
}

/** What a toolkit without a server answers: an empty list, or an error. */
type WithoutServer<T> = (toolkit: string) => T

const WAIT = { timeoutMs: 30_000, totalMs: 60_000 }
const NO_SUGGESTIONS: Completion = { values: [] }

export interface ResourceDeps {
  registry: Pick<Registry, 'find'>
  connector: Connector
  mask: MaskValue
}

export function createResources({ registry, connector, mask }: ResourceDeps): {
  resources: Resources
  prompts: Prompts
  skills: Skills
} {
  async function use<T>(
    { userId, toolkit }: Address,
    work: (connection: Connection) => Promise<T>,
    withoutServer: WithoutServer<T>,
  ): Promise<T> {
    const stored = assertEnabled(await registry.find(userId, toolkit))
    if (stored.toolkit.server.type === 'custom') return withoutServer(toolkit)
    return mask(stored, userId, await connector.use(stored, userId, { repeatable: true, work }))
  }
  const list = (kind: ListKind) => (userId: string, toolkit: string) =>
    use<JsonObject[]>({ userId, toolkit }, (connection) => listed(connection, kind), none)
  const read = (userId: string, toolkit: string, uri: string) =>
    use({ userId, toolkit }, (connection) => readResource(connection, uri), missing('resources'))
  const complete = (at: Address, request: CompletionRequest) =>
    use(
      at,
      (connection) => connection.complete(request, WAIT),
      () => NO_SUGGESTIONS,
    )
  return {
    resources: {
      list: list('resources'),
      // Many servers have resources and do not know this method.
      templates: (userId, toolkit) =>
        use({ userId, toolkit }, (connection) => listedOrNone(connection, 'resourceTemplates'), none),
      read,
      readTemplate: async (userId, toolkit, filled) => read(userId, toolkit, await expand(filled)),
      complete: (userId, toolkit, { uriTemplate: uri, ...partial }) =>
        complete({ userId, toolkit }, { ref: { type: 'ref/resource', uri }, ...partial }),
    },
    skills: {
      list: (userId, toolkit) => use({ userId, toolkit }, (connection) => connection.listSkills(WAIT), none),
      read: (userId, toolkit, address) =>
        use({ userId, toolkit }, (connection) => connection.readSkill(address, WAIT), missing('skills')),
    },
    prompts: {
      list: list('prompts'),
      get: (userId, toolkit, prompt) =>
        use({ userId, toolkit }, (connection) => getPrompt(connection, prompt), missing('prompts')),
      complete: (userId, toolkit, { name, ...partial }) =>
        complete({ userId, toolkit }, { ref: { type: 'ref/prompt', name }, ...partial }),
    },
  }
}

const none: WithoutServer<JsonObject[]> = () => []

const missing =
  (kind: 'resources' | 'prompts' | 'skills'): WithoutServer<never> =>
  (toolkit) => {
    throw new HostError('not-found', {
      detail: `Custom toolkit \`${toolkit}\` has no ${kind}: it has tools only.`,
      action: 'Use its tools, or choose a toolkit with a server.',
    })
  }

async function listed(connection: Connection, kind: ListKind): Promise<JsonObject[]> {
  return (await connection.list(kind, WAIT)).items.filter(isObject)
}

/** A refused list does not show whether the resource exists. */
const listedOrNone = (connection: Connection, kind: ListKind) =>
  listed(connection, kind).catch((error: unknown) => {
    if (isRefusal(error)) return []
    throw error
  })

async function readResource(connection: Connection, uri: string): Promise<JsonObject> {
  try {
    return await connection.readResource(uri, WAIT)
  } catch (error) {
    // Servers refuse an unknown URI with many codes; the lists tell it from a failure of a resource that exists.
    if (!isRefusal(error) || error.status === 404 || (await isOffered(connection, uri))) throw error
    throw unknown(error, `List the server's resources; \`${uri.slice(0, 200)}\` is not among them.`)
  }
}

async function isOffered(connection: Connection, uri: string): Promise<boolean> {
  if ((await listedOrNone(connection, 'resources')).some((one) => one.uri === uri)) return true
  const templates = await listedOrNone(connection, 'resourceTemplates')
  return templates.some(
    ({ uriTemplate }) => typeof uriTemplate === 'string' && uri.startsWith(beginningOf(uriTemplate)),
  )
}

/** A template's text before its first expression: enough to tell whose URI it is, and no pattern of a server is run. */
const beginningOf = (uriTemplate: string) => uriTemplate.split('{', 1)[0] || '\0'

async function getPrompt(
  connection: Connection,
  prompt: { name: string; arguments: Record<string, string> },
): Promise<JsonObject> {
  const found = (await listedOrNone(connection, 'prompts')).find(({ name }) => name === prompt.name)
  if (found) assertArguments(found, prompt)
  try {
    return await connection.getPrompt(prompt, WAIT)
  } catch (error) {
    if (found || !isRefusal(error)) throw error
    throw unknown(error, `List the server's prompts; \`${prompt.name.slice(0, 200)}\` is not among them.`)
  }
}

function assertArguments(listed: JsonObject, prompt: { name: string; arguments: Record<string, string> }): void {
  const declared = Array.isArray(listed.arguments) ? listed.arguments.filter(isObject) : []
  const names = declared
    .filter(({ name, required }) => required === true && !Object.hasOwn(prompt.arguments, String(name)))
    .map(({ name }) => String(name))
  if (names.length === 0) return
  throw new HostError('invalid-input', {
    detail: `Prompt \`${prompt.name}\` lacks required arguments: ${names.map((name) => `\`${name}\``).join(', ')}.`,
    action: 'Send a value for each of them.',
    errors: names.map((name) => ({ path: `arguments.${name}`, message: 'is required' })),
  })
}

async function expand({ uriTemplate, arguments: values }: FilledTemplate): Promise<string> {
  const { UriTemplate } = await import('@modelcontextprotocol/client')
  try {
    return new UriTemplate(uriTemplate).expand(values)
  } catch (cause) {
    throw new HostError('invalid-input', {
      detail: `\`${uriTemplate.slice(0, 200)}\` cannot be filled in: it is not a valid URI template.`,
      action: 'Use a template as the server lists it.',
      errors: [{ path: 'uriTemplate', message: 'is not a valid URI template' }],
      cause,
    })
  }
}

const isRefusal = (error: unknown): error is HostError => HostError.is(error) && error.code === 'refused-by-server'

const unknown = (refusal: HostError, action: string) => refusal.with({ status: 404, action, cause: refusal.cause })

const isObject = (item: unknown): item is JsonObject => typeof item === 'object' && item !== null
