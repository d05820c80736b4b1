/** Removing a user deletes rows of every collection. A new collection must be added here, or this fails. */
import { describe, expect, it } from 'vitest'
import { createServices } from '../host/create-services.ts'
import { APP_OWNER, newId } from '../schema/ids.ts'
import { COLLECTION_NAMES, type Collection, type Row, specOf } from '../storage/collections.ts'
import { createKvStorage } from '../storage/kv/kv-storage.ts'
import { memoryBackend } from '../storage/kv/memory-backend.ts'
import {
  configRow,
  sampleApiKeyRow,
  sampleAuditRow,
  sampleGrantRow,
  sampleThreadRow,
  sampleToolUseRow,
  sampleToolVectorRow,
  sampleUsageRow,
  toolRow,
} from '../testing/suites/storage/rows.ts'
import {
  sampleAccountRow,
  sampleSessionRow,
  sampleSignInLinkRow,
  sampleUserRow,
} from '../testing/suites/storage/user-rows.ts'
import { REMOVED_COLLECTIONS } from './remove-user.ts'

const WHO = 'ann-7f3a91'
const at = new Date()
const uscoId = newId('config')

/** A row of theirs in every collection that has rows of users. */
const ROWS: { [C in Collection]?: (userId: string) => Row<C> } = {
  userServerConfigs: (userId) => configRow(userId, { uscoId }),
  userServerTools: (userId) => toolRow(userId, uscoId),
  pins: (userId) => pin(userId, userId),
  preferences: (userId) => ({
    preferencesId: 'preferences',
    userId,
    valueJson: { autoLoadTools: true, maxServersPerThread: 1, costLimits: {}, learnFromUse: true, theme: 'dark' },
    updatedAt: at,
  }),
  threads: (userId) => sampleThreadRow(userId, { threadId: 't' }),
  activations: (userId) => ({
    activationId: 'a',
    userId,
    tier: 'user',
    threadId: '',
    ref: 'x',
    on: true,
    createdAt: at,
  }),
  messages: (userId) => ({
    messageId: 'm',
    userId,
    threadId: 't',
    position: 0,
    role: 'user',
    contentJson: { parts: [] },
    createdAt: at,
  }),
  loadedTools: (userId) => ({
    loadedToolId: 'l',
    userId,
    threadId: 't',
    ref: 'a.b',
    sticky: false,
    byPrompt: false,
    loadedAt: at,
    usedAt: at,
  }),
  toolUses: (userId) => sampleToolUseRow(userId),
  toolVectors: (userId) => sampleToolVectorRow(userId),
  policyRules: (userId) => ({
    ruleId: 'r',
    userId,
    tier: 'user',
    threadId: '',
    position: 0,
    ruleJson: {},
    createdAt: at,
  }),
  credentials: (userId) =>
    ({
      credentialId: 'c',
      userId,
      toolkit: uscoId,
      field: 'f',
      keyId: 'k',
      wrappedKey: 'w',
      iv: 'i',
      ciphertext: 'c',
      createdAt: at,
      updatedAt: at,
    }) as never,
  personalCatalogs: (userId) => ({
    personalCatalogId: 'p',
    userId,
    uscoId,
    toolsJson: {},
    introspectedAt: at,
    recordAt: at,
    version: 1,
  }),
  signIns: (userId) => ({
    signInId: 's',
    userId,
    uscoId,
    issuer: null,
    expiresAt: null,
    renewable: false,
    generation: 0,
    leaseHolder: null,
    leaseUntil: null,
    stateHash: null,
    stateUntil: null,
    createdAt: at,
    updatedAt: at,
  }),
  approvals: (userId) =>
    ({
      approvalId: 'p',
      userId,
      threadId: null,
      runId: null,
      callId: 'c',
      status: 'pending',
      ref: 'a.b',
      argumentsJson: {},
      reason: 'r',
      callerJson: { type: 'direct' },
      allowEdits: false,
      allowRemember: true,
      answeredBy: userId,
      answeredAt: null,
      expiresAt: at,
      createdAt: at,
    }) as never,
  grants: (userId) => sampleGrantRow(userId),
  audit: (userId) => sampleAuditRow(userId),
  calls: (userId) => ({
    callId: 'c',
    userId,
    threadId: null,
    runId: null,
    ref: 'a.b',
    dedupeKey: 'd',
    requestHash: 'h',
    status: 'ok' as const,
    outcomeJson: null,
    approvalId: null,
    processId: 'p',
    createdAt: at,
    finishedAt: null,
    expiresAt: at,
  }),
  results: (userId) => ({
    resultId: 'r',
    userId,
    callId: 'c',
    ref: 'a.b',
    bytes: 1,
    characters: 1,
    lines: 1,
    chunks: 1,
    isJson: false,
    sectionsJson: [],
    expiresAt: at,
    createdAt: at,
  }),
  resultChunks: (userId) => ({
    chunkId: 'k',
    userId,
    resultId: 'r',
    seq: 0,
    firstCharacter: 0,
    firstLine: 0,
    text: 'x',
  }),
  usage: (userId) => sampleUsageRow(userId),
  places: (userId) => ({
    placesId: 'p',
    userId,
    subject: 'user',
    holdersJson: { p: 1 },
    version: 1,
    updatedAt: at,
  }),
  workflows: (userId) => ({ workflowId: 'w', userId, name: 'n', createdAt: at, updatedAt: at }),
  workflowVersions: (userId) => ({
    workflowVersionId: 'v',
    userId,
    workflowId: 'w',
    version: 1,
    definitionJson: {},
    createdAt: at,
  }),
  runs: (userId) => ({
    runId: 'r',
    userId,
    kind: 'program' as const,
    threadId: null,
    workflowVersionId: null,
    status: 'queued' as const,
    inputJson: {},
    outputJson: null,
    errorJson: null,
    leaseOwner: null,
    leaseUntil: null,
    createdAt: at,
    updatedAt: at,
  }),
  steps: (userId) => ({
    stepId: 's',
    userId,
    runId: 'r',
    seq: 0,
    key: 'k',
    kind: 'k',
    status: 'started' as const,
    requestJson: null,
    resultJson: null,
    startedAt: at,
    endedAt: null,
  }),
  apiKeys: (userId) => sampleApiKeyRow(userId),
}

function pin(userId: string, acceptedBy: string): Row<'pins'> {
  return {
    pinId: newId('pin'),
    userId,
    uscoId,
    name: 'read_file',
    fingerprint: 'f',
    manifestJson: {},
    changedFingerprint: null,
    changedManifestJson: null,
    acceptedBy,
    acceptedAt: at,
  } as never
}

const owned = COLLECTION_NAMES.filter((name) => specOf(name).owner === 'user')

describe('the removal of a user', () => {
  it('covers every user collection directly or through its parent, except the log', () => {
    expect(Object.keys(ROWS).sort()).toEqual([...owned].sort())
    const covered = (name: Collection): boolean => {
      const { parent } = specOf(name)
      if (name === 'audit' || REMOVED_COLLECTIONS.includes(name)) return true
      return parent !== undefined && covered(parent.collection as Collection)
    }
    expect(owned.filter((name) => !covered(name))).toEqual([])
  })

  it('leaves nothing that names the user, and the log stays valid', async () => {
    const backend = memoryBackend()
    const storage = createKvStorage({ name: 'memory', open: async () => backend })
    const host = createServices({ storage })
    void host.audit.list({ userId: WHO })
    await host.toolkits.register({ name: 'Other', url: 'https://example.com/x' }, { tier: 'user', userId: 'bob' })
    await host.toolkits.register(
      { name: 'Kit', url: 'https://example.com/mcp', headers: { A: 'b' } },
      { tier: 'user', userId: WHO },
    )
    await host.calls.start({
      userId: WHO,
      toolkit: 'kit',
      tool: 'x',
      arguments: { me: WHO },
      caller: { type: 'direct' },
    }).outcome
    await host.audit.flush()
    // Beneath the storage: what no transaction would let a test write.
    for (const collection of owned) {
      if (collection === 'audit') continue
      const row = ROWS[collection]?.(WHO) as Record<string, unknown>
      const id = String(row[specOf(collection).id])
      await backend.commit([{ collection, owner: WHO, id, row, before: undefined }])
    }
    const shared = configRow(APP_OWNER, { uscoId: 'usco_app' })
    const accepted = { ...pin(APP_OWNER, WHO), uscoId: 'usco_app' }
    await backend.commit([
      { collection: 'userServerConfigs', owner: APP_OWNER, id: 'usco_app', row: shared, before: undefined },
      { collection: 'pins', owner: APP_OWNER, id: accepted.pinId, row: accepted, before: undefined },
    ])
    await storage.transaction({ caller: 'sign-in' }, async (tx) => {
      await tx.insert('users', sampleUserRow(WHO))
      await tx.insert('accounts', sampleAccountRow(WHO))
      await tx.insert('sessions', sampleSessionRow(WHO))
      await tx.insert('signInLinks', sampleSignInLinkRow(WHO))
    })
    const everything = async () =>
      JSON.stringify(await Promise.all(COLLECTION_NAMES.map(async (name) => [name, await backend.scan(name)])))
    expect((await everything()).split(WHO).length).toBeGreaterThan(owned.length)

    const { rows, lines } = await host.users.remove(WHO)
    expect(rows).toBeGreaterThanOrEqual(REMOVED_COLLECTIONS.length)
    expect(lines).toBeGreaterThanOrEqual(3)
    expect(await everything()).not.toContain(WHO)
    expect(await host.audit.verify()).toMatchObject({ ok: true })
    expect(await host.toolkits.list('bob')).toHaveLength(1)
    expect((await host.audit.list({ userId: 'bob' })).items).toHaveLength(1)
    await expect(host.users.remove(WHO)).rejects.toMatchObject({ code: 'not-found' })
    await host.close()
  })
})
