/** Valid rows for storage tests, with overrides. */
import { newId } from '../../../schema/ids.ts'
import type { Row } from '../../../storage/storage.ts'

const now = () => new Date()

export function configRow(userId: string, overrides: Partial<Row<'userServerConfigs'>> = {}): Row<'userServerConfigs'> {
  const uscoId = overrides.uscoId ?? newId('config')
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
    eraJson: null,
    createdAt: now(),
    updatedAt: now(),
    ...overrides,
  }
}

export function toolRow(
  userId: string,
  uscoId: string,
  overrides: Partial<Row<'userServerTools'>> = {},
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
    ...overrides,
  }
}

export function sampleThreadRow(userId: string, overrides: Partial<Row<'threads'>> = {}): Row<'threads'> {
  return {
    threadId: newId('thread'),
    userId,
    title: 'A thread',
    settingsJson: {},
    createdAt: now(),
    updatedAt: now(),
    ...overrides,
  }
}

export function sampleAuditRow(userId: string, overrides: Partial<Row<'audit'>> = {}): Row<'audit'> {
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
    ...overrides,
  }
}

export function sampleApiKeyRow(userId: string, overrides: Partial<Row<'apiKeys'>> = {}): Row<'apiKeys'> {
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
    ...overrides,
  }
}

export function sampleGrantRow(userId: string, overrides: Partial<Row<'grants'>> = {}): Row<'grants'> {
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
    ...overrides,
  }
}

export function sampleUsageRow(userId: string, overrides: Partial<Row<'usage'>> = {}): Row<'usage'> {
  return {
    usageId: newId('usage'),
    userId,
    subject: 'user',
    counter: 'tokens',
    windowStart: now(),
    value: 0,
    ...overrides,
  }
}

export function sampleApprovalRow(userId: string, overrides: Partial<Row<'approvals'>> = {}): Row<'approvals'> {
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
    ...overrides,
  }
}

export function sampleCallRow(userId: string, overrides: Partial<Row<'calls'>> = {}): Row<'calls'> {
  const callId = overrides.callId ?? newId('call')
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
    ...overrides,
  }
}

export function sampleResultRow(userId: string, overrides: Partial<Row<'results'>> = {}): Row<'results'> {
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
    ...overrides,
  }
}

export function placesRow(userId: string, overrides: Partial<Row<'places'>> = {}): Row<'places'> {
  return {
    placesId: newId('places'),
    userId,
    subject: 'user',
    holdersJson: {},
    version: 1,
    updatedAt: now(),
    ...overrides,
  }
}

export function sampleLoadedToolRow(userId: string, overrides: Partial<Row<'loadedTools'>> = {}): Row<'loadedTools'> {
  const loadedToolId = overrides.loadedToolId ?? newId('loadedTool')
  return {
    loadedToolId,
    userId,
    threadId: 'a thread',
    ref: `filesystem.${loadedToolId}`,
    sticky: false,
    byPrompt: false,
    loadedAt: now(),
    usedAt: now(),
    ...overrides,
  }
}

export function sampleToolUseRow(userId: string, overrides: Partial<Row<'toolUses'>> = {}): Row<'toolUses'> {
  const toolUseId = overrides.toolUseId ?? newId('toolUse')
  return {
    toolUseId,
    userId,
    uscoId: 'usco_files',
    tool: toolUseId,
    calls: 1,
    successes: 1,
    lastUsedAt: now(),
    examplesJson: [{ text: 'read my notes', at: Date.now() }],
    ...overrides,
  }
}

export function sampleToolVectorRow(userId: string, overrides: Partial<Row<'toolVectors'>> = {}): Row<'toolVectors'> {
  const fingerprint = overrides.fingerprint ?? newId('tool')
  return {
    toolVectorId: `tvec_${fingerprint}`,
    userId,
    embedder: 'test',
    fingerprint,
    vector: 'AAAA',
    createdAt: now(),
    usedAt: now(),
    ...overrides,
  }
}

export function sampleRunRow(userId: string, overrides: Partial<Row<'runs'>> = {}): Row<'runs'> {
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
    ...overrides,
  }
}
