/** Storage cases for faults: invalid rows, failed operations, throwing watchers and closed storages. */
import type { Change, Row } from '../../../storage/storage.ts'
import { check, equal, eventually, rejects } from '../../check.ts'
import type { CaseBody } from '../../suite-case.ts'
import { configRow, sampleGrantRow, sampleThreadRow, sampleUsageRow } from './rows.ts'

const ANN = { userId: 'ann' }

export const faultCases: Record<string, CaseBody> = {
  'a transaction with a failed operation fails, even when its work caught the error': async (storage) => {
    const changes: Change[] = []
    await storage.watch((change) => changes.push(change))
    const row = sampleThreadRow('ann')
    const swallowing = storage.transaction(ANN, async (tx) => {
      await tx.insert('threads', row)
      await tx.insert('threads', row).catch(() => {})
    })
    await rejects(swallowing, 'conflict', 'a conflict that was caught')
    const after = storage.transaction(ANN, async (tx) => {
      await tx.insert('threads', row)
      await tx.insert('threads', row).catch(() => {})
      await rejects(tx.list('threads'), 'conflict', 'what comes after a failure')
    })
    await rejects(after, 'conflict', 'a conflict with more after it')
    const invalid = storage.transaction(ANN, async (tx) => {
      await tx.insert('threads', row)
      await tx.update('threads', row.threadId, { set: { title: 7 as never } }).catch(() => {})
    })
    await rejects(invalid, 'invalid-row', 'a wrong row that was caught')
    equal(await storage.transaction(ANN, (tx) => tx.list('threads')), [], 'what was stored')
    equal(
      changes.filter((change) => change.kind === 'row'),
      [],
      'what was told',
    )
  },

  'a failed operation rejects with its own error inside the transaction': async (storage) => {
    const row = sampleThreadRow('ann')
    const twice = storage.transaction(ANN, async (tx) => {
      await tx.insert('threads', row)
      await rejects(tx.insert('threads', row), 'conflict', 'the same row twice')
    })
    await rejects(twice, 'conflict', 'the transaction')
  },

  'a value outside its enum or an unknown field is not stored': async (storage) => {
    const insert = (row: Row<'grants'>) => storage.transaction(ANN, (tx) => tx.insert('grants', row))
    await rejects(insert(sampleGrantRow('ann', { decision: 'maybe' as never })), 'invalid-row', 'an unknown decision')
    await rejects(insert({ ...sampleGrantRow('ann'), extra: 1 } as never), 'invalid-row', 'an unknown field')
    const stored = sampleGrantRow('ann')
    await insert(stored)
    const update = (set: object) =>
      storage.transaction(ANN, (tx) => tx.update('grants', stored.grantId, { set: set as never }))
    await rejects(update({ target: 'bogus' }), 'invalid-row', 'a change to an unknown target')
    await rejects(update({ extra: 1 }), 'invalid-row', 'a change of an unknown field')
    await rejects(update({ createdAt: 'yesterday' }), 'invalid-row', 'a change to a time that is none')
    equal(await storage.transaction(ANN, (tx) => tx.list('grants')), [stored], 'what is stored')
  },

  'a text with a NUL character is not stored and matches nothing': async (storage) => {
    const insert = (fields: Partial<Row<'threads'>>) =>
      storage.transaction(ANN, (tx) => tx.insert('threads', sampleThreadRow('ann', fields)))
    await rejects(insert({ title: 'a\0b' }), 'invalid-row', 'a text')
    await rejects(insert({ settingsJson: { deep: ['a\0b'] } }), 'invalid-row', 'a text in JSON')
    await rejects(insert({ settingsJson: { 'a\0b': 1 } }), 'invalid-row', 'a name in JSON')
    const row = sampleThreadRow('ann')
    await storage.transaction(ANN, (tx) => tx.insert('threads', row))
    const change = storage.transaction(ANN, (tx) =>
      tx.update('threads', row.threadId, { set: { settingsJson: { deep: 'a\0b' } } }),
    )
    await rejects(change, 'invalid-row', 'a change')
    await storage.transaction(ANN, async (tx) => {
      equal(await tx.get('threads', 'a\0b'), undefined, 'a read by id')
      equal(await tx.list('threads', { where: { title: 'a\0b' } }), [], 'a filter')
      equal(await tx.update('threads', 'a\0b', { set: { title: 'x' } }), undefined, 'a change by id')
      equal(await tx.delete('threads', 'a\0b'), false, 'a deletion')
    })
  },

  'a counter stores more than 32 bits': async (storage) => {
    const row = sampleUsageRow('ann', { value: 3_000_000_000 })
    await storage.transaction(ANN, (tx) => tx.insert('usage', row))
    equal(await storage.transaction(ANN, (tx) => tx.get('usage', row.usageId)), row, 'the stored counter')
    const value = Number.MAX_SAFE_INTEGER
    const changed = await storage.transaction(ANN, (tx) => tx.update('usage', row.usageId, { set: { value } }))
    equal(changed?.value, value, 'the changed counter')
  },

  'an empty update returns the row unchanged and notifies no watcher': async (storage) => {
    const row = configRow('ann')
    await storage.transaction(ANN, (tx) => tx.insert('userServerConfigs', row))
    const changes: Change[] = []
    await storage.watch((change) => changes.push(change))
    const update = (where?: Partial<Row<'userServerConfigs'>>, id = row.uscoId) =>
      storage.transaction(ANN, (tx) => tx.update('userServerConfigs', id, { set: {}, ...(where ? { where } : {}) }))
    equal(await update(), row, 'the row')
    equal(await update({ enabled: true }), row, 'the row, where its condition holds')
    equal(await update({ enabled: false }), undefined, 'the row, where its condition does not hold')
    equal(await update(undefined, 'nothing'), undefined, 'a row that is not there')
    equal(changes, [{ kind: 'live' }], 'what was told')
  },

  'a throwing watcher does not fail transactions or other watchers': async (storage, deadlineMs) => {
    await storage.watch(() => {
      throw new Error('a broken watcher')
    })
    const changes: Change[] = []
    await storage.watch((change) => changes.push(change))
    const row = sampleThreadRow('ann')
    await storage.transaction(ANN, (tx) => tx.insert('threads', row))
    check(await storage.transaction(ANN, (tx) => tx.get('threads', row.threadId)), 'the row is stored')
    await eventually(() => changes.length === 2, 'the other watcher is told', deadlineMs)
  },

  'a closed storage is unavailable': async (storage) => {
    await storage.transaction(ANN, (tx) => tx.insert('threads', sampleThreadRow('ann')))
    await storage.close()
    await rejects(
      storage.transaction(ANN, (tx) => tx.list('threads')),
      'storage-unavailable',
      'a transaction',
    )
    await rejects(storage.ready(), 'storage-unavailable', 'getting ready')
    await rejects(
      storage.watch(() => {}),
      'storage-unavailable',
      'watching',
    )
    await storage.close()
  },
}
