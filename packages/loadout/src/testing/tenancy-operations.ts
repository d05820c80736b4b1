/** What the users of the tenancy model do, and what they note. */
import type pg from 'pg'
import { HostError } from '../errors.ts'
import type { Access, CacheKey, ReadCache, Row, Storage, Transaction } from '../storage/storage.ts'
import { configRow, threadRow, toolRow } from './rows.ts'

const MOST_THREADS = 500

export interface TenancyReport {
  operations: number
  failedTransactions: number
  crossReads: number
  crossWrites: number
  findings: string[]
}

export const USERS = ['ann', 'bob', 'cyd', 'dan', 'eve']
/** Stand-ins for code that forgot: they take a role, and no user. */
const FORGETFUL = { user: 'forgetful:loadout_user', owner: 'forgetful:loadout_owner' } as const

export interface Model {
  userId: string
  threads: Map<string, Row<'threads'>>
  configs: Map<string, Row<'userServerConfigs'>>
}

export interface World {
  storage: Storage
  cache: ReadCache
  cacheKey: (userId: string) => CacheKey
  views: pg.Pool
  models: Map<string, Model>
  random: () => number
  report: TenancyReport
}

type Operation = (world: World, model: Model) => Promise<void>

export const OPERATIONS: Operation[] = [
  addThread,
  addThread,
  changeThread,
  removeThread,
  readAll,
  readAll,
  readCached,
  tryForeign,
  giveAway,
  failInTheMiddle,
  failAtAConstraint,
  addToolkit,
  removeToolkit,
  readWithoutAUser,
  readAsTheOwner,
  readThroughViews,
]

async function addThread({ storage }: World, model: Model) {
  // A list is read whole below its limit; a user with more would seem to have lost some.
  if (model.threads.size >= MOST_THREADS) return
  const row = threadRow(model.userId, { title: `of ${model.userId}` })
  await storage.transaction(model, (tx) => tx.insert('threads', row))
  model.threads.set(row.threadId, row)
}

async function changeThread({ storage, random }: World, model: Model) {
  const row = pick(random, [...model.threads.values()])
  if (!row) return
  const title = `of ${model.userId} ${random()}`
  await storage.transaction(model, (tx) => tx.update('threads', row.threadId, { set: { title } }))
  model.threads.set(row.threadId, { ...row, title })
}

async function removeThread({ storage, random }: World, model: Model) {
  if (model.threads.size < 8) return
  const row = pick(random, [...model.threads.values()])
  await storage.transaction(model, (tx) => tx.delete('threads', row.threadId))
  model.threads.delete(row.threadId)
}

async function readAll(world: World, model: Model) {
  const [threads, configs, tools] = await world.storage.transaction(
    model,
    async (tx) =>
      [await tx.list('threads'), await tx.list('userServerConfigs'), await tx.list('userServerTools')] as const,
  )
  noteForeign(world, model.userId, [...threads, ...configs, ...tools])
  noteChanged(world, model, { threads, configs })
}

async function readCached(world: World, model: Model) {
  const rows = await world.cache.read(world.cacheKey(model.userId), ['threads'], () =>
    world.storage.transaction(model, (tx) => tx.list('threads')),
  )
  noteForeign(world, model.userId, rows)
  // A user's own changes are in their next read, kept or not.
  noteChanged(world, model, { threads: rows })
}

async function tryForeign(world: World, model: Model) {
  const other = pick(
    world.random,
    USERS.filter((userId) => userId !== model.userId),
  )
  const row = pick(world.random, [...(world.models.get(other)?.threads.values() ?? [])])
  if (!row) return
  await world.storage.transaction(model, async (tx) => {
    const seen = await tx.get('threads', row.threadId)
    if (seen) noteForeign(world, model.userId, [seen])
    const changed = await tx.update('threads', row.threadId, { set: { title: 'stolen' } })
    const gone = await tx.delete('threads', row.threadId)
    if (changed || gone) note(world, 'crossWrites', `${model.userId} changed a thread of ${other}`)
  })
}

async function giveAway(world: World, model: Model) {
  const other = pick(
    world.random,
    USERS.filter((userId) => userId !== model.userId),
  )
  const written = await attempt(world, model, (tx) => tx.insert('threads', threadRow(other, { title: 'planted' })))
  if (written) note(world, 'crossWrites', `${model.userId} wrote a thread of ${other}`)
}

async function failInTheMiddle(world: World, model: Model) {
  await attempt(world, model, async (tx) => {
    await tx.insert('threads', threadRow(model.userId, { title: 'never' }))
    throw new Error('on purpose')
  })
}

async function failAtAConstraint(world: World, model: Model) {
  const [config] = model.configs.values()
  if (!config) return
  await attempt(world, model, async (tx) => {
    await tx.insert('threads', threadRow(model.userId, { title: 'never' }))
    await tx.insert('userServerConfigs', configRow(model.userId, { name: config.name }))
  })
}

async function addToolkit({ storage }: World, model: Model) {
  if (model.configs.size > 6) return
  const config = configRow(model.userId)
  await storage.transaction(model, (tx) => tx.insert('userServerConfigs', config))
  await storage.transaction({ caller: 'introspection', userId: model.userId }, (tx) =>
    tx.insert('userServerTools', toolRow(model.userId, config.uscoId)),
  )
  model.configs.set(config.uscoId, config)
}

async function removeToolkit({ storage }: World, model: Model) {
  const [config] = model.configs.values()
  if (!config || model.configs.size < 3) return
  await storage.transaction(model, (tx) => tx.delete('userServerConfigs', config.uscoId))
  model.configs.delete(config.uscoId)
}

async function readWithoutAUser(world: World) {
  await readForgetful(world, FORGETFUL.user)
}

async function readAsTheOwner(world: World) {
  await readForgetful(world, FORGETFUL.owner)
}

async function readForgetful(world: World, who: string) {
  const rows = await world.storage.transaction({ userId: who }, async (tx) => [
    ...(await tx.list('threads')),
    ...(await tx.list('userServerConfigs')),
  ])
  noteForeign(world, who, rows)
}

// Whatever views there are must show a user their own rows only.
async function readThroughViews(world: World, model: Model) {
  const client = await world.views.connect()
  try {
    await client.query('begin')
    await client.query(`select set_config('role', 'loadout_user', true), set_config('loadout.user_id', $1, true)`, [
      model.userId,
    ])
    const { rows: views } = await client.query(`select viewname from pg_views where schemaname = 'mcp'`)
    for (const { viewname } of views) {
      const { rows } = await client.query(`select user_id as "userId" from mcp.${viewname}`)
      noteForeign(world, model.userId, rows)
    }
  } finally {
    await client.query('rollback')
    client.release()
  }
}

function noteForeign(world: World, reader: string, rows: ReadonlyArray<{ userId: string }>) {
  const foreign = rows.find((row) => row.userId !== reader)
  if (foreign) note(world, 'crossReads', `${reader} read a row of ${foreign.userId}`)
}

function noteChanged(
  world: World,
  model: Model,
  seen: { threads: Row<'threads'>[]; configs?: Row<'userServerConfigs'>[] },
) {
  const titles = new Map(seen.threads.map((row) => [row.threadId, row.title]))
  const right =
    titles.size === model.threads.size &&
    [...model.threads.values()].every((row) => titles.get(row.threadId) === row.title) &&
    (seen.configs === undefined || seen.configs.length === model.configs.size)
  if (!right) note(world, 'crossWrites', `${model.userId} does not find what they left`)
}

function note(world: World, kind: 'crossReads' | 'crossWrites', finding: string) {
  world.report[kind]++
  if (world.report.findings.length < 20) world.report.findings.push(finding)
}

async function attempt(world: World, access: Access, work: (tx: Transaction) => Promise<void>): Promise<boolean> {
  try {
    await world.storage.transaction({ userId: access.userId as string }, work)
    return true
  } catch (error) {
    if (!HostError.is(error) && (error as Error).message !== 'on purpose') throw error
    world.report.failedTransactions++
    return false
  }
}

export function pick<T>(random: () => number, from: readonly T[]): T {
  return from[Math.floor(random() * from.length)] as T
}
