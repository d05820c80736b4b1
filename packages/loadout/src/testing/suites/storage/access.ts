/** Storage cases for access control. */
import { APP_OWNER } from '../../../schema/ids.ts'
import type { Access, Transaction } from '../../../storage/storage.ts'
import { equal, rejects } from '../../check.ts'
import type { CaseBody } from '../../suite-case.ts'
import { configRow, sampleApiKeyRow, sampleAuditRow, sampleThreadRow, toolRow } from './rows.ts'
import { sampleAccountRow, sampleSessionRow, sampleUserRow } from './user-rows.ts'

const ANN = { userId: 'ann' }
const BOB = { userId: 'bob' }
const APP: Access = { caller: 'app-config', userId: APP_OWNER }

export const accessCases: Record<string, CaseBody> = {
  'a row of another user is invisible and cannot be changed': async (storage) => {
    const row = sampleThreadRow('ann')
    await storage.transaction(ANN, (tx) => tx.insert('threads', row))
    await storage.transaction(BOB, async (tx) => {
      equal(await tx.get('threads', row.threadId), undefined, 'read by id')
      equal(await tx.list('threads'), [], 'listed')
      equal(await tx.list('threads', { where: { userId: 'ann' } }), [], 'asked for by its owner')
      equal(await tx.update('threads', row.threadId, { set: { title: 'x' } }), undefined, 'changed')
      equal(await tx.delete('threads', row.threadId), false, 'deleted')
    })
    equal((await storage.transaction(ANN, (tx) => tx.get('threads', row.threadId)))?.title, row.title, 'what Ann has')
  },

  'a user cannot write a row for another user': async (storage) => {
    await rejects(
      storage.transaction(BOB, (tx) => tx.insert('threads', sampleThreadRow('ann'))),
      'forbidden',
      'an insert for another',
    )
    const row = sampleThreadRow('bob')
    await storage.transaction(BOB, (tx) => tx.insert('threads', row))
    const give = storage.transaction(BOB, (tx) => tx.update('threads', row.threadId, { set: { userId: 'ann' } }))
    await rejects(give, 'forbidden', 'a row given to another')
    equal(await storage.transaction(ANN, (tx) => tx.list('threads')), [], 'what Ann got')
  },

  'a child row cannot reference a parent row of another user': async (storage) => {
    const config = configRow('ann')
    await storage.transaction(ANN, (tx) => tx.insert('userServerConfigs', config))
    const foreign = storage.transaction({ caller: 'introspection', userId: 'bob' }, (tx) =>
      tx.insert('userServerTools', toolRow('bob', config.uscoId)),
    )
    await rejects(foreign, 'not-found', "a tool under another's config")
  },

  'users can read tools but not write them': async (storage) => {
    const config = configRow('ann')
    const tool = toolRow('ann', config.uscoId)
    await storage.transaction(ANN, (tx) => tx.insert('userServerConfigs', config))
    await rejects(
      storage.transaction(ANN, (tx) => tx.insert('userServerTools', tool)),
      'forbidden',
      'an insert by a user',
    )
    await storage.transaction({ caller: 'introspection', userId: 'ann' }, (tx) => tx.insert('userServerTools', tool))
    equal((await storage.transaction(ANN, (tx) => tx.list('userServerTools'))).length, 1, 'what the user reads')
    const change = storage.transaction(ANN, (tx) =>
      tx.update('userServerTools', tool.utoolId, { set: { isActive: false } }),
    )
    await rejects(change, 'forbidden', 'a change by a user')
    await rejects(
      storage.transaction(ANN, (tx) => tx.delete('userServerTools', tool.utoolId)),
      'forbidden',
      'a deletion by a user',
    )
  },

  'audit entries can be appended but never changed or deleted': async (storage) => {
    const row = sampleAuditRow('ann')
    await storage.transaction(ANN, (tx) => tx.insert('audit', row))
    const change = storage.transaction(ANN, (tx) => tx.update('audit', row.auditId, { set: { outcome: 'denied' } }))
    await rejects(change, 'forbidden', 'a change')
    await rejects(
      storage.transaction(ANN, (tx) => tx.delete('audit', row.auditId)),
      'forbidden',
      'a deletion',
    )
  },

  'every user can read the app toolkits and only operators can write them': async (storage) => {
    const row = configRow(APP_OWNER, { slug: 'shared' })
    await storage.transaction(APP, (tx) => tx.insert('userServerConfigs', row))
    equal(
      (await storage.transaction(BOB, (tx) => tx.get('userServerConfigs', row.uscoId)))?.slug,
      'shared',
      'read by a user',
    )
    equal((await storage.transaction(BOB, (tx) => tx.list('userServerConfigs'))).length, 1, 'listed by a user')
    const change = storage.transaction(BOB, (tx) =>
      tx.update('userServerConfigs', row.uscoId, { set: { enabled: false } }),
    )
    equal(await change, undefined, 'changed by a user')
    equal(
      await storage.transaction(BOB, (tx) => tx.delete('userServerConfigs', row.uscoId)),
      false,
      'deleted by a user',
    )
    await rejects(
      storage.transaction(BOB, (tx) => tx.insert('userServerConfigs', configRow(APP_OWNER))),
      'forbidden',
      'inserted by a user',
    )
    await storage.transaction(BOB, (tx) => tx.insert('userServerConfigs', configRow('bob', { slug: 'shared' })))
    equal(
      (await storage.transaction(BOB, (tx) => tx.list('userServerConfigs'))).length,
      2,
      'a user has one of the same slug',
    )
  },

  'a system caller has exactly the access on its list': async (storage) => {
    const mine = sampleApiKeyRow('ann')
    await storage.transaction(ANN, (tx) => tx.insert('apiKeys', mine))
    await storage.transaction(BOB, (tx) => tx.insert('apiKeys', sampleApiKeyRow('bob')))
    const signIn = { caller: 'sign-in' } as const
    equal((await storage.transaction(signIn, (tx) => tx.list('apiKeys'))).length, 2, 'keys seen at sign-in')
    equal(
      (await storage.transaction(signIn, (tx) => tx.list('apiKeys', { where: { hash: mine.hash } }))).length,
      1,
      'the key of a hash',
    )
    await rejects(
      storage.transaction({ ...signIn, userId: 'ann' }, (tx) => tx.insert('threads', sampleThreadRow('ann'))),
      'forbidden',
      'a thread written at sign-in',
    )
    await rejects(
      storage.transaction(signIn, (tx) => tx.get('apiKeys', mine.keyId)),
      'forbidden',
      'a key by its id alone',
    )
    const asOther = { caller: 'introspection', userId: 'bob' } as const
    const config = configRow('ann')
    await storage.transaction(ANN, (tx) => tx.insert('userServerConfigs', config))
    equal(
      await storage.transaction(asOther, (tx) => tx.list('userServerConfigs')),
      [],
      "another's config seen by an introspection",
    )
  },

  'access beyond the permitted operations is forbidden whether or not the row exists': async (storage) => {
    const row = sampleThreadRow('ann')
    const key = sampleApiKeyRow('ann')
    await storage.transaction(ANN, async (tx) => {
      await tx.insert('threads', row)
      await tx.insert('apiKeys', key)
    })
    const forbidden = (access: Access, label: string, work: (tx: Transaction) => Promise<unknown>) =>
      rejects(storage.transaction(access, work), 'forbidden', label)
    const signIn: Access = { caller: 'sign-in', userId: 'ann' }
    await forbidden(signIn, 'a list at sign-in', (tx) => tx.list('threads'))
    for (const id of [row.threadId, 'nothing']) {
      await forbidden(signIn, 'a read at sign-in', (tx) => tx.get('threads', id))
      await forbidden(signIn, 'a change at sign-in', (tx) => tx.update('threads', id, { set: { title: 'x' } }))
      await forbidden(signIn, 'a deletion at sign-in', (tx) => tx.delete('threads', id))
    }
    // The database role of system callers has access to this table for other callers.
    const introspection: Access = { caller: 'introspection', userId: 'ann' }
    await forbidden(introspection, 'keys listed by an introspection', (tx) => tx.list('apiKeys'))
    await forbidden(introspection, 'a key read by an introspection', (tx) => tx.get('apiKeys', key.keyId))
    await forbidden(introspection, 'a deletion by an introspection', (tx) => tx.delete('apiKeys', key.keyId))
    await forbidden(ANN, 'a change of no tool by a user', (tx) =>
      tx.update('userServerTools', 'nothing', { set: { isActive: false } }),
    )
    await forbidden(ANN, 'a deletion from what is shared', (tx) => tx.delete('appConfig', 'nothing'))
    await storage.transaction(introspection, (tx) => tx.list('appConfig'))
  },

  'users cannot read sign-in data, not even their own, and permitted callers can': async (storage) => {
    const signIn: Access = { caller: 'sign-in' }
    const changes: unknown[] = []
    const stop = await storage.watch((change) => {
      if (change.kind === 'row') changes.push([change.collection, change.userId, change.id])
    })
    await storage.transaction(signIn, async (tx) => {
      await tx.insert('users', sampleUserRow('ann'))
      await tx.insert('accounts', sampleAccountRow('ann'))
      await tx.insert('sessions', sampleSessionRow('ann', { sessionId: 's' }))
    })
    const own = { where: { userId: 'ann' } }
    for (const collection of ['users', 'accounts', 'sessions'] as const) {
      const read = storage.transaction(ANN, (tx) => tx.list(collection, own))
      await rejects(read, 'forbidden', `${collection} listed by their user`)
      await rejects(
        storage.transaction(ANN, (tx) => tx.get(collection, 'ann')),
        'forbidden',
        `${collection} read`,
      )
    }
    await rejects(
      storage.transaction(ANN, (tx) => tx.update('users', 'ann', { set: { role: 'operator' } })),
      'forbidden',
      'a user who makes themselves an operator',
    )
    await rejects(
      storage.transaction({ caller: 'key-admin' }, (tx) => tx.get('users', 'ann')),
      'forbidden',
      'a user read by a caller of another list',
    )
    await rejects(
      storage.transaction(signIn, (tx) => tx.insert('users', sampleUserRow('bob', { email: 'ann@example.com' }))),
      'conflict',
      'an email that somebody has',
    )
    await rejects(
      storage.transaction(signIn, (tx) => tx.insert('sessions', sampleSessionRow('nobody'))),
      'not-found',
      'a session of nobody',
    )
    const changed = await storage.transaction(signIn, (tx) => tx.update('users', 'ann', { set: { name: 'Ann' } }))
    equal(changed?.name, 'Ann', 'a user changed by the caller')
    equal(await storage.transaction({ caller: 'user-admin' }, (tx) => tx.delete('users', 'ann')), true, 'removed')
    equal(await storage.transaction(signIn, (tx) => tx.list('sessions')), [], 'sessions of who is gone')
    equal(await storage.transaction(signIn, (tx) => tx.list('accounts')), [], 'ways in of who is gone')
    stop()
    equal(
      changes.every((change) => (change as string[])[1] === 'ann'),
      true,
      'whom the changes are told to',
    )
    equal(changes.length >= 5, true, 'that they are told')
  },

  'an access with an empty user id is forbidden': async (storage) => {
    await rejects(
      storage.transaction({ userId: '' }, (tx) => tx.list('threads')),
      'forbidden',
      'the empty user',
    )
  },

  'users with unusual ids stay isolated': async (storage) => {
    const ids = [
      "o'brien",
      'a"b',
      'a,b',
      '%',
      '_',
      'ann ',
      'Ann',
      'ünï',
      '漢字',
      '😀',
      'null',
      "'; drop table mcp.threads; --",
      '["x"]',
      '${secret:x}',
    ]
    for (const userId of ids)
      await storage.transaction({ userId }, (tx) =>
        tx.insert('threads', sampleThreadRow(userId, { threadId: 't', title: userId })),
      )
    for (const userId of ids) {
      const rows = await storage.transaction({ userId }, (tx) => tx.list('threads'))
      equal(
        rows.map((row) => row.title),
        [userId],
        `the rows of ${userId}`,
      )
    }
  },
}
