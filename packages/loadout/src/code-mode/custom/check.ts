/**
 * Validates a custom toolkit on save and on test runs, beyond its schema: JSON Schemas, code, functions, tools and
 * hosts. Every error has a path, even if the record is invalid elsewhere.
 */
import { type FieldError, HostError } from '../../errors.ts'
import { compileSchema } from '../../json-schema/validator.ts'
import type { Loadout } from '../../loadout/overlay.ts'
import type { AppConfig } from '../../schema/app-config.ts'
import { compileRef } from '../../schema/glob.ts'
import { coversHost } from '../../schema/host-pattern.ts'
import { invalidFields, type JsonObject } from '../../schema/json.ts'
import { collectFields } from '../../schema/read/field-aliases.ts'
import { readToolkit } from '../../schema/read/read-toolkit.ts'
import { readToolValues } from '../../schema/read/read-values.ts'
import { type CustomTool, customTool } from '../../schema/toolkit/server.ts'
import type { Toolkit } from '../../schema/toolkit/toolkit.ts'
import { type Functions, HOST_FUNCTION, refName } from '../../toolkits/functions.ts'
import type { ToolkitOwner } from '../../toolkits/toolkit-writer.ts'
import { isObject } from '../../util/is-object.ts'
import { isIdentifier } from '../function-names.ts'
import { readProgram } from '../parse/read-program.ts'

export interface CustomCheckDeps {
  app: { get(): Promise<AppConfig> }
  functions: Pick<Functions, 'named' | 'names'>
  /** True if the host has an executor. */
  runsCode: boolean
  /** Resolves the user's loadout without connecting to servers. */
  resolveLoadout(userId: string): Promise<Pick<Loadout, 'entries' | 'toolkits'>>
}

/** Throws `invalid-input` with all errors; returns warnings. */
export type CustomCheck = (input: unknown, owner: ToolkitOwner, over?: Toolkit) => Promise<string[]>

export function createCustomCheck(deps: CustomCheckDeps): CustomCheck {
  return async (input, owner, over) => {
    const found = findTools(input, over)
    if (!found) return []
    const { errors, path, id, tools } = found
    const warnings: string[] = []
    const { customToolkits } = await deps.app.get()
    const own = tools.flatMap(({ tool }) => (tool ? [tool.name] : []))
    const has = await refsOf(deps, owner, { id, own })
    const seen = new Set<string>()
    for (const [index, { raw, tool }] of tools.entries()) {
      const at = (field: string) => `${path}.${index}.${field}`
      if (isObject(raw) && typeof raw.name === 'string') {
        if (seen.has(raw.name)) errors.push({ path: at('name'), message: `"${raw.name}" is there twice` })
        seen.add(raw.name)
      }
      errors.push(...schemaErrors(raw, at))
      if (tool) errors.push(...hostErrors(tool, customToolkits.hosts, at), ...refErrors(tool, has, at))
      errors.push(...(await codeErrors(raw, { ...deps, warnings, path: at('execute') })))
    }
    if (errors.length > 0) throw invalidFields(unique(errors))
    return warnings
  }
}

interface FoundTools {
  errors: FieldError[]
  path: string
  id: string | undefined
  tools: Array<{ raw: unknown; tool: CustomTool | undefined }>
}

/** Raw and parsed tools with the parse errors; undefined if it is no custom toolkit. */
function findTools(input: unknown, over: Toolkit | undefined): FoundTools | undefined {
  if (!isObject(input)) return undefined
  const { fields } = collectFields(input)
  const { type, command, template, url, tools } = fields
  const isOther = command || template || url || (over && over.server.type !== 'custom')
  const isCustom = type === undefined ? !isOther : type.value === 'custom'
  const raw = readToolValues(tools?.value)
  if (!isCustom || !Array.isArray(raw)) return undefined
  const errors: FieldError[] = []
  let id: string | undefined
  try {
    id = readToolkit(input, over ? { over } : {}).toolkit.id
  } catch (error) {
    if (!HostError.is(error) || error.code !== 'invalid-input') throw error
    errors.push(...(error.errors ?? []))
  }
  const read = raw.slice(0, 200).map((item: unknown) => ({ raw: item, tool: customTool.safeParse(item).data }))
  return { errors, path: tools?.path ?? 'tools', id, tools: read }
}

type At = (field: string) => string

function schemaErrors(raw: unknown, at: At): FieldError[] {
  return (['inputSchema', 'outputSchema'] as const).flatMap((field) => {
    const schema = isObject(raw) ? raw[field] : undefined
    if (!isObject(schema)) return []
    const compiled = compileSchema(schema)
    if (compiled.ok) return []
    return compiled.errors.map(({ path, message }) => ({
      path: path === '(root)' || path === '' ? at(field) : `${at(field)}.${path}`,
      message,
    }))
  })
}

function hostErrors({ hosts = [] }: CustomTool, allowed: readonly string[], at: At): FieldError[] {
  return hosts.flatMap((host, index) =>
    coversHost(allowed, host)
      ? []
      : [{ path: `${at('hosts')}.${index}`, message: `"${host}" is not allowed here; ${allowedText(allowed)}` }],
  )
}

const allowedText = (allowed: readonly string[]) =>
  allowed.length === 0
    ? 'the operator allows none (customToolkits.hosts of the app configuration)'
    : `the operator allows ${allowed.slice(0, 20).join(', ')}`

/** Error message of a ref; undefined if it is valid or cannot be checked. */
type HasRef = (ref: string) => string | undefined

async function refsOf(
  { resolveLoadout }: CustomCheckDeps,
  owner: ToolkitOwner,
  { id, own }: { id: string | undefined; own: readonly string[] },
): Promise<HasRef> {
  // An app toolkit may name tools that only users have.
  if (owner.tier === 'app') return () => undefined
  const { entries, toolkits } = await resolveLoadout(owner.userId)
  const ids = [...new Set([...(id === undefined ? [] : [id]), ...toolkits.map((toolkit) => toolkit.id)])]
  const tools = [
    ...own.map((tool) => ({ toolkit: id ?? '', tool })),
    ...entries.filter((entry) => entry.toolkit !== id).map(({ toolkit, tool }) => ({ toolkit, tool })),
  ]
  return (ref) => {
    const { toolkit, tool } = compileRef(ref)
    // A glob may match a future toolkit.
    if (!toolkit.literal) return undefined
    if (!ids.some((one) => toolkit.matches(one))) return `"${ref}" names no toolkit of yours; ${listed(ids)}`
    const ownTools = tools.filter((one) => toolkit.matches(one.toolkit))
    if (!tool?.literal || ownTools.length === 0 || ownTools.some((one) => tool.matches(one.tool))) return undefined
    return `"${ref}" names no tool; ${listed(ownTools.map((one) => `${one.toolkit}.${one.tool}`))}`
  }
}

const listed = (names: readonly string[]) =>
  names.length === 0 ? 'there are none' : `there are ${names.slice(0, 20).join(', ')}${names.length > 20 ? ', …' : ''}`

function refErrors({ tools = [] }: CustomTool, has: HasRef, at: At): FieldError[] {
  return tools.flatMap((ref, index) => {
    const message = has(ref)
    return message === undefined ? [] : [{ path: `${at('tools')}.${index}`, message }]
  })
}

interface CodeCheck extends Pick<CustomCheckDeps, 'functions' | 'runsCode'> {
  path: string
  warnings: string[]
}

async function codeErrors(raw: unknown, check: CodeCheck): Promise<FieldError[]> {
  const execute = isObject(raw) ? (raw as JsonObject).execute : undefined
  if (typeof execute !== 'string' || execute === '') return []
  const { functions, runsCode, path, warnings } = check
  const name = refName(execute)
  if (execute === HOST_FUNCTION) return []
  if (name !== undefined) {
    if (functions.named(name)) return []
    return [{ path, message: `"${name}" is no function of this app; ${listed(functions.names())}` }]
  }
  if (!runsCode) warnings.push(`${path} is code, and this host runs none: give it an executor`)
  if (isIdentifier(execute.trim()))
    warnings.push(`${path} is a name by itself; for a function of the app write "ref:${execute.trim()}"`)
  const read = await readProgram({ source: execute })
  return read.ok ? [] : [{ path, message: `${read.error.message}. ${read.error.action}` }]
}

function unique(errors: readonly FieldError[]): FieldError[] {
  return [...new Map(errors.map((error) => [`${error.path}\n${error.message}`, error])).values()]
}
