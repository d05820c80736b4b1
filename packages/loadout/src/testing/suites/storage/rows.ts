/** Valid rows to store, each told apart by what is given. */
import { newId } from '../../../schema/ids.ts'
import type { Row } from '../../../storage/storage.ts'

const now = () => new Date()

export function configRow(userId: string, given: Partial<Row<'userServerConfigs'>> = {}): Row<'userServerConfigs'> {
  const uscoId = given.uscoId ?? newId('config')
  return {
    uscoId,
    userId,
    slug: `kit-${uscoId.slice(-8)}`,
    name: `Kit ${uscoId.slice(-8)}`,
    configType: 'mcp_stdio',
    configJson: { type: 'stdio', command: 'true', args: [], env: {} },
    optionsJson: {},
    serverId: null,
    enabled: true,
    introspectionStatus: null,
    introspectionReason: null,
    introspectedAt: null,
    binding: newId('binding'),
    createdAt: now(),
    updatedAt: now(),
    ...given,
  }
}

export function toolRow(
  userId: string,
  uscoId: string,
  given: Partial<Row<'userServerTools'>> = {},
): Row<'userServerTools'> {
  return {
    utoolId: newId('tool'),
    userId,
    uscoId,
    name: 'read_file',
    title: null,
    description: 'Reads a file.',
    inputSchemaJson: { type: 'object', properties: { path: { type: 'string' } } },
    outputSchemaJson: null,
    annotationsJson: { readOnlyHint: true },
    iconsJson: null,
    metaJson: null,
    fingerprint: 'f',
    discoveredAt: now(),
    isActive: true,
    reason: null,
    createdAt: now(),
    updatedAt: now(),
    ...given,
  }
}

export function threadRow(userId: string, given: Partial<Row<'threads'>> = {}): Row<'threads'> {
  return {
    threadId: newId('thread'),
    userId,
    title: 'A thread',
    settingsJson: {},
    createdAt: now(),
    updatedAt: now(),
    ...given,
  }
}

export function auditRow(userId: string, given: Partial<Row<'audit'>> = {}): Row<'audit'> {
  return {
    auditId: newId('audit'),
    entryId: newId('auditEntry'),
    userId,
    at: now(),
    action: 'mcp_tool_call',
    source: 'mcp:filesystem',
    threadId: null,
    runId: null,
    callId: null,
    ref: 'filesystem.read_file',
    outcome: 'ok',
    detailJson: {},
    prevHash: '0'.repeat(64),
    contentHash: '0'.repeat(64),
    salt: null,
    hash: '0'.repeat(64),
    ...given,
  }
}

export function apiKeyRow(userId: string, given: Partial<Row<'apiKeys'>> = {}): Row<'apiKeys'> {
  return {
    keyId: newId('apiKey'),
    userId,
    name: 'key',
    hash: newId('apiKey'),
    hint: 'abcd',
    role: 'user',
    scopesJson: ['read'],
    createdAt: now(),
    lastUsedAt: null,
    expiresAt: null,
    revokedAt: null,
    ...given,
  }
}

export function grantRow(userId: string, given: Partial<Row<'grants'>> = {}): Row<'grants'> {
  return {
    grantId: newId('grant'),
    userId,
    threadId: '',
    target: 'tool',
    ref: 'filesystem.read_file',
    decision: 'allow',
    fingerprint: 'f',
    createdAt: now(),
    revokedAt: null,
    ...given,
  }
}

export function usageRow(userId: string, given: Partial<Row<'usage'>> = {}): Row<'usage'> {
  return {
    usageId: newId('usage'),
    userId,
    subject: 'user',
    counter: 'tokens',
    windowStart: now(),
    value: 0,
    ...given,
  }
}

export function approvalRow(userId: string, given: Partial<Row<'approvals'>> = {}): Row<'approvals'> {
  return {
    approvalId: newId('approval'),
    userId,
    threadId: null,
    runId: null,
    callId: newId('call'),
    processId: newId('process'),
    ref: 'filesystem.read_file',
    argumentsJson: {},
    reason: 'A rule asks.',
    callerJson: { type: 'direct' },
    status: 'pending',
    answeredBy: null,
    answeredAt: null,
    answerJson: null,
    sealedJson: null,
    allowEdits: false,
    fingerprintsJson: { tool: 'f', toolkit: 'f' },
    allowRemember: true,
    expiresAt: now(),
    createdAt: now(),
    ...given,
  }
}

export function callRow(userId: string, given: Partial<Row<'calls'>> = {}): Row<'calls'> {
  const callId = given.callId ?? newId('call')
  return {
    callId,
    userId,
    threadId: null,
    runId: null,
    ref: 'filesystem.read_file',
    dedupeKey: callId,
    requestHash: 'h',
    status: 'ok',
    outcomeJson: null,
    approvalId: null,
    processId: newId('process'),
    createdAt: now(),
    finishedAt: now(),
    expiresAt: now(),
    ...given,
  }
}

export function resultRow(userId: string, given: Partial<Row<'results'>> = {}): Row<'results'> {
  return {
    resultId: newId('result'),
    userId,
    callId: newId('call'),
    ref: 'filesystem.read_file',
    bytes: 1,
    characters: 1,
    lines: 1,
    chunks: 1,
    isJson: false,
    sectionsJson: [],
    expiresAt: now(),
    createdAt: now(),
    ...given,
  }
}

export function placesRow(userId: string, given: Partial<Row<'places'>> = {}): Row<'places'> {
  return {
    placesId: newId('places'),
    userId,
    subject: 'user',
    holdersJson: {},
    version: 1,
    updatedAt: now(),
    ...given,
  }
}

export function loadedToolRow(userId: string, given: Partial<Row<'loadedTools'>> = {}): Row<'loadedTools'> {
  const loadedToolId = given.loadedToolId ?? newId('loadedTool')
  return {
    loadedToolId,
    userId,
    threadId: 'a thread',
    ref: `filesystem.${loadedToolId}`,
    sticky: false,
    loadedAt: now(),
    usedAt: now(),
    ...given,
  }
}

export function toolUseRow(userId: string, given: Partial<Row<'toolUses'>> = {}): Row<'toolUses'> {
  const toolUseId = given.toolUseId ?? newId('toolUse')
  return {
    toolUseId,
    userId,
    uscoId: 'usco_files',
    tool: toolUseId,
    calls: 1,
    successes: 1,
    lastUsedAt: now(),
    examplesJson: [{ text: 'read my notes', at: Date.now() }],
    ...given,
  }
}

export function toolVectorRow(userId: string, given: Partial<Row<'toolVectors'>> = {}): Row<'toolVectors'> {
  const fingerprint = given.fingerprint ?? newId('tool')
  return {
    toolVectorId: `tvec_${fingerprint}`,
    userId,
    embedder: 'test',
    fingerprint,
    vector: 'AAAA',
    createdAt: now(),
    usedAt: now(),
    ...given,
  }
}

export function runRow(userId: string, given: Partial<Row<'runs'>> = {}): Row<'runs'> {
  return {
    runId: newId('run'),
    userId,
    kind: 'program',
    threadId: null,
    workflowVersionId: null,
    status: 'completed',
    inputJson: {},
    outputJson: null,
    errorJson: null,
    leaseOwner: null,
    leaseUntil: null,
    createdAt: new Date(),
    updatedAt: new Date(),
    ...given,
  }
}
