/** What is over goes, what is not stays: the same for every storage. */
import { createHousekeeping } from '../calls/housekeeping.ts'
import { createPresence } from '../policy/presence.ts'
import { newId } from '../schema/ids.ts'
import type { Collection, Storage, Transaction } from '../storage/storage.ts'
import { equal } from './check.ts'
import {
  approvalRow,
  callRow,
  loadedToolRow,
  placesRow,
  resultRow,
  runRow,
  toolUseRow,
  toolVectorRow,
  usageRow,
} from './rows.ts'
import { sessionRow, signInLinkRow, userRow } from './user-rows.ts'

const DAY_MS = 86_400_000
const YEAR_MS = 365 * DAY_MS
/** More than go in one piece. */
const MANY = 450

export async function housekeepingCase(storage: Storage): Promise<void> {
  const presence = createPresence(storage)
  const now = Date.now()
  const daysAgo = (days: number) => new Date(now - days * DAY_MS)
  const year = new Date(Math.floor(now / YEAR_MS) * YEAR_MS)
  const { processId } = presence
  const letGo = await presence.hold()
  for (const userId of ['ann', 'bob'])
    await storage.transaction({ userId }, async (tx) => {
      const over = daysAgo(0.001)
      await tx.insertAll('approvals', [
        approvalRow(userId, { approvalId: 'kept', expiresAt: daysAgo(6.9) }),
        approvalRow(userId, { expiresAt: daysAgo(7.1) }),
      ])
      await tx.insertAll('calls', [
        callRow(userId, { callId: 'kept', expiresAt: daysAgo(-0.1) }),
        callRow(userId, { callId: 'kept: under way', expiresAt: over, processId, finishedAt: null }),
        callRow(userId, { expiresAt: over, finishedAt: null, processId: 'gone' }),
        ...Array.from({ length: MANY }, () => callRow(userId, { expiresAt: over, processId })),
      ])
      const result = resultRow(userId, { expiresAt: over })
      await tx.insertAll('results', [result, resultRow(userId, { resultId: 'kept', expiresAt: daysAgo(-0.1) })])
      const { resultId } = result
      for (const piece of [{ resultId }, { resultId: 'kept' }])
        await tx.insert('resultChunks', {
          ...{ chunkId: newId('chunk'), userId, seq: 0, firstCharacter: 0, firstLine: 0, text: 'x', ...piece },
        })
      await tx.insertAll('usage', [
        usageRow(userId, { usageId: 'kept', windowStart: daysAgo(7.9) }),
        usageRow(userId, { usageId: 'kept: a run', subject: 'run:r', windowStart: year }),
        ...[daysAgo(8.1), new Date(year.getTime() - DAY_MS * 9), daysAgo(400)].map((windowStart) =>
          usageRow(userId, { windowStart }),
        ),
      ])
      await tx.insertAll('places', [
        placesRow(userId, { placesId: 'kept', subject: 'a', holdersJson: { [processId]: 1 }, updatedAt: daysAgo(1) }),
        placesRow(userId, { placesId: 'kept: new', subject: 'b', holdersJson: {} }),
        placesRow(userId, { subject: 'c', holdersJson: { gone: 1 }, updatedAt: daysAgo(1) }),
      ])
      await insertUnused(tx, userId, daysAgo)
    })
  await storage.transaction({ caller: 'presence' }, (tx) =>
    tx.insert('processes', { processId: 'gone', startedAt: daysAgo(1), aliveUntil: daysAgo(0.1) }),
  )
  const went = (letter: string, days: number) => ({ removalId: letter.repeat(64), removedAt: daysAgo(days) })
  await storage.transaction({ caller: 'audit-shipping' }, (tx) =>
    tx.insertAll('removedUsers', [went('a', 364), went('b', 366)]),
  )
  await insertWaysIn(storage, daysAgo)
  const housekeeping = createHousekeeping(storage)
  equal(await housekeeping.sweep(), 2 * (1 + (MANY + 1) + 1 + 3 + 1 + 4) + 2 + 3, 'how many went')
  await checkWaysIn(storage)
  for (const userId of ['ann', 'bob']) {
    const left = (collection: Collection, id: string) =>
      storage.transaction({ userId }, async (tx) =>
        (await tx.list(collection)).map((row) => (row as Record<string, unknown>)[id]).sort(),
      )
    equal(await left('approvals', 'approvalId'), ['kept'], 'approvals')
    equal(await left('calls', 'callId'), ['kept', 'kept: under way'], 'calls')
    equal(await left('results', 'resultId'), ['kept'], 'results')
    equal(await left('resultChunks', 'resultId'), ['kept'], 'pieces of results')
    equal(await left('usage', 'usageId'), ['kept', 'kept: a run'], 'counters')
    equal(await left('places', 'placesId'), ['kept', 'kept: new'], 'places')
    equal(await left('loadedTools', 'loadedToolId'), ['kept'], 'loaded tools')
    equal(await left('toolUses', 'toolUseId'), ['kept'], 'uses of tools')
    equal(await left('toolVectors', 'toolVectorId'), ['kept'], 'vectors')
    equal(await left('runs', 'runId'), ['kept', 'kept: under way'], 'runs')
    equal(await left('processes', 'processId'), [processId], 'processes')
    equal(await left('removedUsers', 'removalId'), ['a'.repeat(64)], 'users who went')
  }
  equal(await housekeeping.sweep(), 0, 'how many went the second time')
  letGo()
  await presence.close()
}

const signIn = { caller: 'sign-in' } as const

/** Sessions, links and counted tries, before and after their end. */
function insertWaysIn(storage: Storage, daysAgo: (days: number) => Date): Promise<void> {
  const [past, future] = [daysAgo(0.001), daysAgo(-0.1)]
  return storage.transaction(signIn, async (tx) => {
    await tx.insert('users', userRow('ann'))
    await tx.insertAll('sessions', [
      sessionRow('ann', { sessionId: 'kept', expiresAt: future }),
      sessionRow('ann', { expiresAt: past }),
    ])
    await tx.insertAll('signInLinks', [
      signInLinkRow('ann', { linkId: 'kept', expiresAt: future }),
      signInLinkRow(null, { linkId: 'setup', kind: 'setup', expiresAt: past }),
      signInLinkRow('ann', { expiresAt: past }),
    ])
    await tx.insertAll('signInAttempts', [
      { attemptsId: 'kept', count: 1, endsAt: future },
      { attemptsId: 'over', count: 1, endsAt: past },
    ])
  })
}

function checkWaysIn(storage: Storage): Promise<void> {
  return storage.transaction(signIn, async (tx) => {
    const links = await tx.list('signInLinks')
    equal(
      (await tx.list('sessions')).map(({ sessionId }) => sessionId),
      ['kept'],
      'sessions',
    )
    equal(
      links.map(({ linkId }) => linkId),
      ['kept', 'setup'],
      'links',
    )
    equal(
      (await tx.list('signInAttempts')).map(({ attemptsId }) => attemptsId),
      ['kept'],
      'tries',
    )
  })
}

/** What searches keep, on both sides of how long it is kept without use. */
async function insertUnused(tx: Transaction, userId: string, daysAgo: (days: number) => Date): Promise<void> {
  await tx.insertAll('loadedTools', [
    loadedToolRow(userId, { loadedToolId: 'kept', usedAt: daysAgo(364) }),
    loadedToolRow(userId, { usedAt: daysAgo(366) }),
  ])
  await tx.insertAll('toolUses', [
    toolUseRow(userId, { toolUseId: 'kept', lastUsedAt: daysAgo(179) }),
    toolUseRow(userId, { lastUsedAt: daysAgo(181) }),
  ])
  await tx.insertAll('toolVectors', [
    toolVectorRow(userId, { toolVectorId: 'kept', usedAt: daysAgo(59) }),
    toolVectorRow(userId, { usedAt: daysAgo(61) }),
  ])
  await tx.insertAll('runs', [
    runRow(userId, { runId: 'kept', updatedAt: daysAgo(29) }),
    runRow(userId, { runId: 'kept: under way', status: 'running', updatedAt: daysAgo(31) }),
    runRow(userId, { updatedAt: daysAgo(31) }),
  ])
}
