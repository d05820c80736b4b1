/**
 * Reads a config of another app as records for the toolkit reader: one entry per server with its inputs, missing values
 * and errors. Pure: it depends only on the config and the given values.
 */
import { type FieldError, HostError } from '../../errors.ts'
import { assertPlainJson, invalidFields, type JsonObject } from '../../schema/json.ts'
import { type ReadToolkit, readToolkit } from '../../schema/read/read-toolkit.ts'
import { type ImportInput, MAX_ENTRIES } from '../../schema/records/import-report.ts'
import { takeSecrets } from '../secrets/secrets.ts'
import { type Expanded, expandRecord } from './expand.ts'
import { type DeclaredInput, type DetectedInput, findInputs, readDeclared, toImportInput } from './inputs.ts'
import { normalizeEntry } from './quirks.ts'
import { findServers } from './shapes.ts'

export interface ImportEntry {
  /** Name in the config. */
  name: string
  /** Record for the toolkit reader, together with `secrets`. */
  record: JsonObject
  /** Values of the record's secret placeholders, by field. */
  secrets: Record<string, string>
  /** The parsed toolkit, when the record is complete. */
  read?: ReadToolkit
  inputs: ImportInput[]
  /** Inputs without a value. */
  missing: string[]
  warnings: string[]
  problem?: HostError
}

export interface ReadImport {
  /** Config format: `mcpServers`, `servers`, `map` or `server`. */
  shape: string
  entries: ImportEntry[]
  warnings: string[]
}

const MAX_WARNINGS = 50

export function readImport(config: unknown, values: Readonly<Record<string, string>> = {}): ReadImport {
  assertPlainJson(config)
  const { shape, servers, inputs: declarations, ignored } = findServers(config)
  if (servers.length > MAX_ENTRIES)
    throw invalidFields([
      { path: shape, message: `holds ${servers.length} servers; at most ${MAX_ENTRIES} are taken at once` },
    ])
  const { declared, warnings } = readDeclared(declarations)
  const drafts = servers.map(([name, value]) => draftOf(name, value, declared))
  shareSecrecy(drafts)
  const requestedNames = new Set(drafts.flatMap((draft) => [...draft.inputs.keys()]))
  const unused = Object.keys(values).filter((name) => !requestedNames.has(name))
  return {
    shape,
    entries: drafts.map((draft) => entryOf(draft, values)),
    warnings: capWarnings([
      ...(ignored.length > 0 ? [`Not read: ${quoteList(ignored)}`] : []),
      ...(unused.length > 0 ? [`Nothing asks for the values ${quoteList(unused)}`] : []),
      ...warnings,
    ]),
  }
}

const capWarnings = (warnings: readonly string[]) =>
  warnings.length > MAX_WARNINGS
    ? [...warnings.slice(0, MAX_WARNINGS), `and ${warnings.length - MAX_WARNINGS} more`]
    : [...warnings]

interface Draft {
  name: string
  record: JsonObject
  inputs: Map<string, DetectedInput>
  warnings: string[]
  problem?: HostError
}

function draftOf(name: string, value: unknown, declared: ReadonlyMap<string, DeclaredInput>): Draft {
  try {
    const { record, warnings } = normalizeEntry(name, value)
    return { name, record, inputs: findInputs(record, { entry: name, declared }), warnings }
  } catch (problem) {
    if (!HostError.is(problem)) throw problem
    return { name, record: {}, inputs: new Map(), warnings: [], problem }
  }
}

/** One name has one value, so an input that is secret in one entry is secret in all. */
function shareSecrecy(drafts: readonly Draft[]): void {
  const inputs = drafts.flatMap((draft) => [...draft.inputs.values()])
  const secret = new Set(inputs.filter((input) => input.secret).map((input) => input.name))
  for (const input of inputs) input.secret = secret.has(input.name)
}

function entryOf({ name, record, inputs, warnings, problem }: Draft, values: Readonly<Record<string, string>>) {
  const expanded = expandRecord(record, { entry: name, values, inputs })
  const entry: ImportEntry = {
    name,
    record: expanded.record,
    secrets: expanded.secrets,
    inputs: [...inputs.values()].map(toImportInput),
    missing: [...expanded.missing.keys()],
    warnings: capWarnings([...warnings, ...expanded.warnings]),
  }
  if (problem) return { ...entry, problem }
  try {
    if (expanded.problems.length > 0) throw invalidFields(expanded.problems)
    const read = readExpanded(expanded)
    const withWarnings = { ...entry, warnings: capWarnings([...entry.warnings, ...(read?.warnings ?? [])]) }
    return read && entry.missing.length === 0 ? { ...withWarnings, read } : withWarnings
  } catch (thrown) {
    if (!HostError.is(thrown)) throw thrown
    return { ...entry, problem: thrown }
  }
}

/** Parses the record. A record with missing values is parsed too, to report errors that no value can fix. */
function readExpanded({ record, secrets, missing }: Expanded): ReadToolkit | undefined {
  try {
    const read = readToolkit(record)
    if (missing.size === 0) takeSecrets(read.toolkit.server, [], secrets)
    return read
  } catch (thrown) {
    if (!HostError.is(thrown) || missing.size === 0) throw thrown
    const pendingPaths = [...missing.values()].flatMap((paths) => [...paths])
    const otherErrors = (thrown.errors ?? []).filter(
      (error) => !pendingPaths.some((inputPath) => overlaps(error, inputPath)),
    )
    if (otherErrors.length > 0) throw invalidFields(otherErrors)
    return undefined
  }
}

const overlaps = ({ path }: FieldError, inputPath: string) =>
  path === inputPath || inputPath.startsWith(`${path}.`) || path.startsWith(`${inputPath}.`)

const MAX_LISTED = 10

function quoteList(names: readonly string[]): string {
  const quotedNames = names.slice(0, MAX_LISTED).map((name) => `"${name.slice(0, 80)}"`)
  const more = names.length - quotedNames.length
  return quotedNames.join(', ') + (more > 0 ? ` and ${more} more` : '')
}
