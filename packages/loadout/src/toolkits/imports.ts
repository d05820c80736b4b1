/**
 * Imports configs of other apps: as a preview, or applied entry by entry through the registry, so that every
 * registration check applies. A preview writes nothing and reports what `apply` would do. Every entry is reported.
 */
import { HostError } from '../errors.ts'
import { invalidFields, type JsonObject, parse } from '../schema/json.ts'
import { collectFields } from '../schema/read/field-aliases.ts'
import type { ReadToolkit } from '../schema/read/read-toolkit.ts'
import {
  type ImportedEntry,
  type ImportOptions,
  type ImportReport,
  importOptions,
} from '../schema/records/import-report.ts'
import type { Toolkit } from '../schema/toolkit/toolkit.ts'
import { PORTABLE_FIELDS } from './import/quirks.ts'
import type { ImportEntry } from './import/read-import.ts'
import type { Registry, ToolkitOwner } from './registry.ts'

export interface Imports {
  /** Reports what `apply` would do. `source` is a config, or a text: JSON, TOML, YAML, a URL, a command line. */
  preview(source: unknown, owner: ToolkitOwner, options?: ImportOptions): Promise<ImportReport>
  /** Adds or updates complete entries. Incomplete or invalid entries are reported and not written. */
  apply(source: unknown, owner: ToolkitOwner, options?: ImportOptions): Promise<ImportReport>
}

/** The parsers of the formats load with the first text. */
async function parseSource(source: unknown): Promise<unknown> {
  if (typeof source !== 'string') return source
  const { readSource } = await import('./import/read-source.ts')
  return readSource(source)
}

export function createImports(registry: Registry): Imports {
  const ownToolkits = async (owner: ToolkitOwner) =>
    owner.tier === 'app'
      ? registry.app()
      : (await registry.list(owner.userId)).filter((stored) => stored.tier === 'user')

  async function preview(source: unknown, owner: ToolkitOwner, options: ImportOptions = {}) {
    const { values, only } = parse(importOptions, options)
    const { readImport } = await import('./import/read-import.ts')
    const { shape, entries, warnings } = readImport(await parseSource(source), values)
    const toolkits = (await ownToolkits(owner)).map(({ toolkit }) => toolkit)
    const plan = createPlan(
      owner,
      toolkits.map(({ id, name }) => ({ id, name })),
    )
    const selected = entries.filter(({ name }) => only === undefined || only.includes(name))
    const unknown = (only ?? []).filter((name) => !entries.some((entry) => entry.name === name))
    const report: ImportReport = {
      shape,
      entries: selected.map((entry) => plan(entry)),
      warnings: [...warnings, ...unknown.map((name) => `There is no entry "${name.slice(0, 80)}"`)],
    }
    return { report, selected, toolkits }
  }

  async function write(planned: ImportedEntry, { record, secrets }: ImportRecord, owner: ToolkitOwner) {
    try {
      const { stored, created, warnings } = await registry.register(record, owner, { secrets })
      const status = created ? ('added' as const) : ('updated' as const)
      return { ...planned, status, id: stored.toolkit.id, warnings: [...new Set([...planned.warnings, ...warnings])] }
    } catch (error) {
      if (!HostError.is(error)) throw error
      return { ...planned, ...rejected(error), id: undefined }
    }
  }

  return {
    preview: async (source, owner, options) => (await preview(source, owner, options)).report,
    async apply(source, owner, options) {
      const { report, selected, toolkits } = await preview(source, owner, options)
      const entries: ImportedEntry[] = []
      // Sequential: each entry must see the ids that earlier entries took.
      for (const [index, planned] of report.entries.entries()) {
        const { record, secrets } = selected[index] as ImportEntry
        const isWhole = planned.status === 'added' || planned.status === 'updated'
        const before = toolkits.find(({ id }) => planned.status === 'updated' && id === planned.id)
        const importRecord = { secrets, record: before ? withUserSettings(record, before) : record }
        entries.push(isWhole ? await write(planned, importRecord, owner) : planned)
      }
      return { ...report, entries }
    },
  }
}

type ImportRecord = Pick<ImportEntry, 'record' | 'secrets'>

/** Preserves user settings that the config does not contain, above all that the toolkit is turned off. */
function withUserSettings(record: JsonObject, before: Toolkit): JsonObject {
  const { fields } = collectFields(record)
  const preserved = (['enabled', ...PORTABLE_FIELDS] as const).filter(
    // Declared manifests belong to the previous server.
    (field) => field !== 'tools' && fields[field] === undefined && !(field === 'enabled' && fields.disabled),
  )
  return { ...Object.fromEntries(preserved.map((field) => [field, before[field]])), ...record }
}

interface Slot {
  id: string
  name: string
  /** Entry of this import that has or will have the slot. */
  entry?: string
}

/** Plans one entry after the other, with the rules of the registry. */
function createPlan({ tier }: ToolkitOwner, existing: readonly Slot[]) {
  const slots: Slot[] = existing.map((slot) => ({ ...slot }))

  return function plan(entry: ImportEntry): ImportedEntry {
    const { inputs, missing, warnings, read } = entry
    const base = { name: entry.name.slice(0, 300), inputs, missing, warnings }
    if (entry.problem) return { ...base, ...rejected(entry.problem) }
    if (!read)
      return { ...base, status: 'needs-input', reason: `It needs a value for ${missing.map(quoted).join(', ')}.` }
    const found = findSlot(slots, read)
    const refusal = read.tier !== undefined && read.tier !== tier ? wrongTier(read.tier) : found.refusal
    if (refusal) return { ...base, ...rejected(refusal) }
    const slot = found.slot ?? { id: freeId(slots, read), name: '' }
    if (!found.slot) slots.push(slot)
    Object.assign(slot, { name: read.toolkit.name, entry: entry.name })
    return { ...base, id: slot.id, status: found.slot ? 'updated' : 'added' }
  }
}

function findSlot(slots: readonly Slot[], { toolkit, hasExplicitId }: ReadToolkit) {
  const sameId = hasExplicitId ? slots.find((slot) => slot.id === toolkit.id) : undefined
  const sameName = slots.find((slot) => slot.name === toolkit.name)
  const slot = sameId ?? sameName
  if (slot?.entry !== undefined) return { refusal: duplicateEntry(slot.entry, slot === sameId ? 'id' : 'name') }
  if (sameId && sameName && sameId !== sameName)
    return {
      refusal: new HostError('conflict', {
        detail: `The toolkit "${sameName.id}" has the name of this entry, and "${sameId.id}" its id.`,
        errors: [{ path: 'name', message: 'is already taken' }],
      }),
    }
  return { slot }
}

function freeId(slots: readonly Slot[], { toolkit, hasExplicitId }: ReadToolkit): string {
  for (let count = 1; ; count++) {
    const id = count === 1 || hasExplicitId ? toolkit.id : `${toolkit.id.slice(0, 44)}-${count}`
    if (hasExplicitId || !slots.some((slot) => slot.id === id)) return id
  }
}

function duplicateEntry(entry: string, path: 'id' | 'name'): HostError {
  const message = `is also that of the entry "${entry.slice(0, 80)}" of this import`
  return new HostError('conflict', { detail: `Its ${path} ${message}.`, errors: [{ path, message }] })
}

function wrongTier(tier: string): HostError {
  return invalidFields([{ path: 'scope', message: `is "${tier}", but this import is for the other tier` }])
}

const MAX_REASON_LENGTH = 1000

/** Prefers field errors: they name paths and repeat no input text. */
function rejected(error: HostError) {
  const { errors, message } = error
  const reason =
    errors && errors.length > 0 ? errors.map((field) => `${field.path}: ${field.message}`).join('; ') : message
  return { status: 'rejected' as const, reason: reason.slice(0, MAX_REASON_LENGTH), ...(errors ? { errors } : {}) }
}

const quoted = (name: string) => `"${name.slice(0, 80)}"`
