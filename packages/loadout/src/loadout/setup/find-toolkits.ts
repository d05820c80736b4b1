/**
 * From the name that an invocation asks for to a toolkit, each name for itself: what the context carries, then what is
 * stored for the user, then the files of local work. Only the local principal ever reaches a file.
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

/** Files of local work. */
export interface LocalFiles {
  /** In the order in which they are looked at; an explicit path comes first. */
  inOrder(path?: string): readonly LocalFile[]
}
export interface LocalFile {
  /** As people know it: the path itself, `MCP_SECRET_PATH`, `./mcp-secret.json`. */
  name: string
  /** Its records by name; undefined where there is no such file. */
  read(): Promise<Record<string, unknown> | undefined>
}

export interface ResolveDeps {
  registry: Pick<Registry, 'list'>
  credentials: Pick<CredentialStore, 'open'>
  files?: LocalFiles | undefined
  /** Transports that the app built for all invocations. What a user stored under the name comes before them. */
  transports?: Transports | undefined
}

export type Transports = Readonly<Record<string, () => unknown>>

export interface ResolveOptions {
  context: ExecutionContext
  /** A file that is looked at before the others. For the local principal alone. */
  path?: string | undefined
  /** Transports that the app built, by the name of their toolkit. Each is asked for one when it connects. */
  transports?: Transports | undefined
}

export interface ResolvedToolkit {
  name: string
  /** `context`, `transport`, `stored`, or the file. */
  from: string
  /** Undefined where the record that was found cannot be used. */
  stored?: StoredToolkit
  error?: HostError
}

/** What stands in the record of a toolkit whose transport the app built; nothing is ever sent there. */
const IN_PROCESS = { type: 'http', url: 'http://in-process.invalid/' } as const

/** People name servers as they like; the id is made of that. */
const readNamed = (name: string, record: unknown): Toolkit => ({
  ...readToolkit(record, { id: slugFrom(name) || 'toolkit', name }).toolkit,
  id: slugFrom(name) || 'toolkit',
})

const NAMED = 'the file that was named, which comes before what is stored'
const FALLBACK = 'because no toolkit of that name is stored or in the context'

export class ToolkitFinder {
  /** What was noticed on the way, for people. */
  readonly warnings: string[]
  readonly #deps: ResolveDeps
  readonly #options: ResolveOptions
  readonly #files = new Map<string, Promise<Record<string, unknown>>>()

  constructor(deps: ResolveDeps, options: ResolveOptions) {
    this.#deps = deps
    this.#options = options
    this.warnings = [...(options.context.warnings ?? [])]
  }

  /** The names that the invocation itself brings, in their order. */
  inlineNames(): string[] {
    const { context, transports = {} } = this.#options
    return [...Object.keys(context.toolkits), ...Object.keys(transports)]
  }

  async find(name: string): Promise<ResolvedToolkit | undefined> {
    const { context, transports = {}, path } = this.#options
    const inline = Object.values(context.toolkits).find((toolkit) => toolkit.id === name || toolkit.name === name)
    if (inline) return this.#createEphemeral({ name, from: 'context' }, () => inline)
    if (Object.hasOwn(transports, name)) return this.#inProcess(name, transports)
    // What a caller points at comes before what is stored; what lies around comes after it.
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

  /** The names that there are; files are looked at only where something was not found without them. */
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

  /** A session or a key is somebody else's: no file and no environment of this machine is theirs. */
  #local(): readonly LocalFile[] {
    const { context, path } = this.#options
    return context.principal.kind === 'local' ? (this.#deps.files?.inOrder(path) ?? []) : []
  }

  /** Each file is read once; one that is broken is told once, and the next is looked at. */
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
      // Another invocation's transport of the same name is another server.
      const own = transport ? { ...toolkit, account: crypto.randomUUID() } : toolkit
      const stored = await createEphemeralToolkit(own, { userId: context.principal.userId, secrets, transport })
      return { ...request, stored }
    } catch (error) {
      return { ...request, error: HostError.from(error) }
    }
  }

  /** The context carries secrets as references; only those that the toolkit names are opened. */
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
