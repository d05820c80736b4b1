/** Stores workflows. Each save creates an immutable version. */
import { HostError } from '../errors.ts'
import { newId } from '../schema/ids.ts'
import { type JsonObject, sameJson } from '../schema/json.ts'
import type { WorkflowDefinition, WorkflowRow, WorkflowVersionRow, WorkflowView } from '../schema/records/workflow.ts'
import type { Storage, Transaction } from '../storage/storage.ts'

/** Workflow ID; with `baseVersion` the save fails with `conflict` unless that is the latest version. */
export type WorkflowToSave = string | { id: string; baseVersion?: number | undefined }

export interface StoredWorkflows {
  create(userId: string, definition: WorkflowDefinition): Promise<WorkflowView>
  update(userId: string, workflow: WorkflowToSave, definition: WorkflowDefinition): Promise<WorkflowView>
  list(userId: string, page?: { cursor?: string | undefined; limit?: number | undefined }): Promise<WorkflowView[]>
  /** Returns the latest version or the given one. */
  get(userId: string, workflowId: string, version?: number): Promise<WorkflowView>
  byVersion(userId: string, workflowVersionId: string): Promise<WorkflowView>
  /** Latest first. */
  versions(userId: string, workflowId: string): Promise<WorkflowView[]>
  delete(userId: string, workflowId: string): Promise<void>
}

const PAGE = 100
const MAX_VERSIONS = 10_000
/** Concurrent saves of one workflow conflict; the later one retries. */
const TRIES = 5

/** Calls `onChange` after each save and delete. */
export function createStoredWorkflows(
  storage: Storage,
  onChange: (userId: string, workflowId: string) => void,
): StoredWorkflows {
  const inTransaction = <T>(userId: string, work: (tx: Transaction) => Promise<T>) =>
    storage.transaction({ userId }, work)
  return {
    async create(userId, definition) {
      const now = new Date()
      const { name } = definition
      const row: WorkflowRow = { workflowId: newId('workflow'), userId, name, createdAt: now, updatedAt: now }
      const version = newVersion(row, 1, definition)
      await inTransaction(userId, async (tx) => {
        await assertFree(tx, row)
        await tx.insert('workflows', row)
        await tx.insert('workflowVersions', version)
      })
      onChange(userId, row.workflowId)
      return viewOf(row, version)
    },
    async update(userId, workflow, definition) {
      const { id: workflowId, baseVersion } = typeof workflow === 'string' ? { id: workflow } : workflow
      for (let tries = 1; ; tries++) {
        try {
          const saved = await inTransaction(userId, (tx) => save(tx, { userId, workflowId, baseVersion }, definition))
          onChange(userId, workflowId)
          return saved
        } catch (error) {
          if (!HostError.is(error) || error.code !== 'conflict' || tries >= TRIES || isFinal(error)) throw error
        }
      }
    },
    list: (userId, { cursor: after, limit = PAGE } = {}) =>
      inTransaction(userId, async (tx) => {
        const query = { where: { userId }, order: 'desc' as const, limit, ...(after === undefined ? {} : { after }) }
        const views: WorkflowView[] = []
        for (const row of await tx.list('workflows', query)) views.push(viewOf(row, await latest(tx, row)))
        return views
      }),
    get: (userId, workflowId, version) =>
      inTransaction(userId, async (tx) => {
        const row = await rowOf(tx, userId, workflowId)
        if (version === undefined) return viewOf(row, await latest(tx, row))
        const [found] = await tx.list('workflowVersions', { where: { userId, workflowId, version } })
        if (!found) throw noWorkflow()
        return viewOf(row, found)
      }),
    byVersion: (userId, workflowVersionId) =>
      inTransaction(userId, async (tx) => {
        const found = await tx.get('workflowVersions', workflowVersionId)
        if (found?.userId !== userId) throw noWorkflow()
        return viewOf(await rowOf(tx, userId, found.workflowId), found)
      }),
    versions: (userId, workflowId) =>
      inTransaction(userId, async (tx) => {
        const row = await rowOf(tx, userId, workflowId)
        return (await versionsOf(tx, row)).map((version) => viewOf(row, version))
      }),
    async delete(userId, workflowId) {
      await inTransaction(userId, async (tx) => {
        await rowOf(tx, userId, workflowId)
        await tx.delete('workflows', workflowId)
      })
      onChange(userId, workflowId)
    },
  }
}

async function save(
  tx: Transaction,
  { userId, workflowId, baseVersion }: { userId: string; workflowId: string; baseVersion: number | undefined },
  definition: WorkflowDefinition,
): Promise<WorkflowView> {
  const row = await rowOf(tx, userId, workflowId)
  const current = await latest(tx, row)
  if (sameJson(current.definitionJson, definition)) return viewOf(row, current)
  if (baseVersion !== undefined && baseVersion !== current.version) throw savedSince(current.version, baseVersion)
  const { name } = definition
  if (name !== row.name) await assertFree(tx, { userId, name })
  const version = newVersion(row, current.version + 1, definition)
  const changed = await tx.update('workflows', workflowId, { set: { name, updatedAt: version.createdAt } })
  await tx.insert('workflowVersions', version)
  return viewOf(changed ?? row, version)
}

function newVersion(
  { userId, workflowId }: WorkflowRow,
  version: number,
  definition: WorkflowDefinition,
): WorkflowVersionRow {
  const definitionJson = definition as unknown as JsonObject
  return {
    workflowVersionId: newId('workflowVersion'),
    userId,
    workflowId,
    version,
    definitionJson,
    createdAt: new Date(),
  }
}

async function rowOf(tx: Transaction, userId: string, workflowId: string): Promise<WorkflowRow> {
  const row = await tx.get('workflows', workflowId)
  if (row?.userId !== userId) throw noWorkflow()
  return row
}

async function versionsOf(tx: Transaction, { userId, workflowId }: WorkflowRow): Promise<WorkflowVersionRow[]> {
  const versions = await tx.list('workflowVersions', { where: { userId, workflowId }, limit: MAX_VERSIONS })
  return versions.sort((a, b) => b.version - a.version)
}

/** Version IDs sort by creation time. */
async function latest(tx: Transaction, { userId, workflowId }: WorkflowRow): Promise<WorkflowVersionRow> {
  const [version] = await tx.list('workflowVersions', { where: { userId, workflowId }, order: 'desc', limit: 1 })
  if (!version) throw noWorkflow()
  return version
}

const TAKEN = 'Choose another name, or change that workflow.'
const SAVED_SINCE = 'Look at the newest version, then save again on top of it.'
/** Conflicts that a retry cannot resolve. */
const isFinal = ({ action }: HostError) => action === TAKEN || action === SAVED_SINCE

const savedSince = (version: number, baseVersion: number) =>
  new HostError('conflict', {
    detail: `Version ${version} was saved since version ${baseVersion}, which yours began with.`,
    action: SAVED_SINCE,
  })

async function assertFree(tx: Transaction, { userId, name }: Pick<WorkflowRow, 'userId' | 'name'>): Promise<void> {
  const [other] = await tx.list('workflows', { where: { userId, name }, limit: 1 })
  if (other) throw new HostError('conflict', { detail: `You have a workflow '${name}' already.`, action: TAKEN })
}

function viewOf(
  { workflowId: id, name, createdAt, updatedAt }: WorkflowRow,
  version: WorkflowVersionRow,
): WorkflowView {
  const definition = version.definitionJson as unknown as WorkflowDefinition
  const { description } = definition
  return {
    id,
    name,
    version: version.version,
    workflowVersionId: version.workflowVersionId,
    definition,
    ...(description === undefined ? {} : { description }),
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  }
}

const noWorkflow = () => new HostError('not-found', { detail: 'There is no such workflow of yours.' })
