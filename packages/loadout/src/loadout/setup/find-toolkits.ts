/**
 * Resolves toolkit names of an invocation, each in this order: context, stored toolkits of the user, local files. Only
 * the local principal can read files.
 */
import type { ExecutionContext } from '../../context.ts'
import type { CredentialStore } from '../../credentials/credential-store.ts'
import { HostError } from '../../errors.ts'
import { slugFrom } from '../../schema/ids.ts'
import { readToolkit } from '../../schema/read/read-toolkit.ts'
import type { SecretRef } from '../../schema/records/credential.ts'
import type { Toolkit } from '../../schema/toolkit/toolkit.ts'
import { createEphemeralToolkit } from '../../toolkits/ephemeral-toolkit.ts'
import type { Registry } from '../../toolkits/registry.ts'
import { PLACEHOLDER } from '../../toolkits/secrets/url-secrets.ts'
import type { StoredToolkit } from '../../toolkits/stored-toolkit.ts'

/** Local configuration files. */
export interface LocalFiles {
  /** In lookup order; an explicit path comes first. */
  inOrder(path?: string): readonly LocalFile[]
}
export interface LocalFile {
  /** Display name: the path, `MCP_SECRET_PATH`, `./mcp-secret.json`. */
  name: string
  /** Records by name; undefined if the file does not exist. */
  read(): Promise<Record<string, unknown> | undefined>
}

export interface FindToolkitDeps {
  registry: Pick<Registry, 'list'>
  credentials: Pick<CredentialStore, 'open'>
  files?: LocalFiles | undefined
  /** Transports of the app for all invocations. Stored toolkits of the user win. */
  transports?: Transports | undefined
}

export type Transports = Readonly<Record<string, () => unknown>>

export interface FindToolkitOptions {
  context: ExecutionContext
  /** File that is read before the others. Only for the local principal. */
  path?: string | undefined
  /** Transports by toolkit name, called for each connection. */
  transports?: Transports | undefined
}

export interface ResolvedToolkit {
  name: string
  /** `context`, `transport`, `stored`, or the file. */
  from: string
  /** Undefined if the record is invalid. */
  stored?: StoredToolkit
  error?: HostError
}

/** Placeholder server of a toolkit with a transport; nothing is sent there. */
const IN_PROCESS = { type: 'http', url: 'http://in-process.invalid/' } as const

/** Derives the ID from a free-form name. */
const readNamed = (name: string, record: unknown): Toolkit => ({
  ...readToolkit(record, { id: slugFrom(name) || 'toolkit', name }).toolkit,
  id: slugFrom(name) || 'toolkit',
})

const NAMED = 'the file that was named, which comes before what is stored'
const FALLBACK = 'because no toolkit of that name is stored or in the context'

export class ToolkitFinder {
  /** Warnings for users. */
  readonly warnings: string[]
  readonly #deps: FindToolkitDeps
  readonly #options: FindToolkitOptions
  readonly #files = new Map<string, Promise<Record<string, unknown>>>()

  constructor(deps: FindToolkitDeps, options: FindToolkitOptions) {
    this.#deps = deps
    this.#options = options
    this.warnings = [...(options.context.warnings ?? [])]
  }

  /** Names of inline toolkits and transports, in order. */
  inlineNames(): string[] {
    const { context, transports = {} } = this.#options
    return [...Object.keys(context.toolkits), ...Object.keys(transports)]
  }

  async find(name: string): Promise<ResolvedToolkit | undefined> {
    const { context, transports = {}, path } = this.#options
    const inline = Object.values(context.toolkits).find((toolkit) => toolkit.id === name || toolkit.name === name)
    if (inline) return this.#createEphemeral({ name, from: 'context' }, () => inline)
    if (Object.hasOwn(transports, name)) return this.#inProcess(name, transports)
    // An explicit path precedes stored toolkits; default files follow them.
    const [explicit, ...around] = path === undefined ? [undefined, ...this.#local()] : this.#local()
    const inPath = explicit ? await this.#inFile(name, explicit, NAMED) : undefined
    if (inPath) return inPath
    const storedToolkits = await this.#stored()
    const stored =
      storedToolkits.find((one) => one.toolkit.id === name) ?? storedToolkits.find((one) => one.toolkit.name === name)
    if (stored) return { name, from: 'stored', stored }
    const ofApp = this.#deps.transports ?? {}
    if (Object.hasOwn(ofApp, name)) return this.#inProcess(name, ofApp)
    for (const file of around) {
      const found = file && (await this.#inFile(name, file, FALLBACK))
      if (found) return found
    }
    return undefined
  }

  /** Available names. Files are read only if a name was not found without them. */
  async available(includeFiles: boolean): Promise<string[]> {
    const files = includeFiles ? await Promise.all(this.#local().map((file) => this.#read(file))) : []
    const stored = (await this.#stored()).map(({ toolkit }) => toolkit.id)
    const ofApp = Object.keys(this.#deps.transports ?? {})
    return [
      ...new Set([...this.inlineNames(), ...stored, ...ofApp, ...files.flatMap((records) => Object.keys(records))]),
    ]
  }

  #stored(): Promise<readonly StoredToolkit[]> {
    return this.#deps.registry.list(this.#options.context.principal.userId)
  }

  async #inFile(name: string, file: LocalFile, why: string): Promise<ResolvedToolkit | undefined> {
    const records = await this.#read(file)
    if (!Object.hasOwn(records, name)) return undefined
    this.warnings.push(`"${name}" comes from ${file.name}, ${why}. Add it to your servers to use it elsewhere.`)
    return this.#createEphemeral({ name, from: file.name }, () => readNamed(name, records[name]))
  }

  /** Only the local principal may use files: for other principals they belong to someone else. */
  #local(): readonly LocalFile[] {
    const { context, path } = this.#options
    return context.principal.kind === 'local' ? (this.#deps.files?.inOrder(path) ?? []) : []
  }

  /** Reads each file once. An invalid file adds one warning, and the next file is used. */
  #read(file: LocalFile): Promise<Record<string, unknown>> {
    const existing = this.#files.get(file.name)
    if (existing) return existing
    const reading = file.read().then(
      (records) => records ?? {},
      (error: unknown) => {
        this.warnings.push(`${file.name} cannot be used: ${HostError.from(error).message}`)
        return {}
      },
    )
    this.#files.set(file.name, reading)
    return reading
  }

  #inProcess(name: string, transports: Transports): Promise<ResolvedToolkit> {
    return this.#createEphemeral(
      { name, from: 'transport' },
      () => readNamed(name, { server: IN_PROCESS }),
      transports[name],
    )
  }

  async #createEphemeral(
    request: Pick<ResolvedToolkit, 'name' | 'from'>,
    read: () => Toolkit,
    transport?: () => unknown,
  ): Promise<ResolvedToolkit> {
    const { context } = this.#options
    try {
      const toolkit = read()
      const secrets = await this.#secretsOf(toolkit)
      // A unique account, because another invocation may use the same name for another server.
      const own = transport ? { ...toolkit, account: crypto.randomUUID() } : toolkit
      const stored = await createEphemeralToolkit(own, { userId: context.principal.userId, secrets, transport })
      return { ...request, stored }
    } catch (error) {
      return { ...request, error: HostError.from(error) }
    }
  }

  /** The context has secret references; only those that the toolkit uses are decrypted. */
  async #secretsOf({ server }: Toolkit): Promise<Record<string, string>> {
    const { secrets, principal } = this.#options.context
    const named = [...JSON.stringify(server).matchAll(PLACEHOLDER)].map((match) => match[1] as string)
    const opened: Record<string, string> = {}
    for (const name of named) {
      const ref: SecretRef | undefined = Object.hasOwn(secrets, name) ? secrets[name] : undefined
      if (!ref) continue
      const fields = await this.#deps.credentials.open({ userId: principal.userId, toolkit: ref.toolkit })
      if (Object.hasOwn(fields, ref.field)) opened[name] = fields[ref.field] as string
    }
    return opened
  }
}
