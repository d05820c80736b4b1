/** Valid rows to store, each told apart by what is given. */
import { newId } from '../schema/ids.ts'
import type { Row } from '../storage/storage.ts'

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
