import { z } from 'zod'
import { userId } from './ids.ts'
import { jsonObject } from './json.ts'

const nodeId = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, 'must be a letter, then up to 63 letters, digits, "_" or "-"')

const base = {
  id: nodeId,
  title: z.string().max(200).optional(),
  after: z.array(nodeId).max(64).default([]),
  timeoutMs: z.number().int().min(1).optional(),
  retry: z.strictObject({ attempts: z.number().int().min(1).max(10) }).optional(),
  onError: z.enum(['fail', 'continue']).default('fail'),
}

export const workflowNode = z.discriminatedUnion('type', [
  z.strictObject({ ...base, type: z.literal('tool'), ref: z.string(), arguments: jsonObject.default({}) }),
  z.strictObject({
    ...base,
    type: z.literal('agent'),
    model: z.string().optional(),
    prompt: z.string().min(1),
    tools: z.array(z.string()).default([]),
  }),
  z.strictObject({
    ...base,
    type: z.literal('code'),
    program: z.string().min(1),
    tools: z.array(z.string()).default([]),
  }),
  z.strictObject({
    ...base,
    type: z.literal('branch'),
    when: z.string().min(1),
    onTrue: z.array(nodeId),
    onFalse: z.array(nodeId).default([]),
  }),
  z.strictObject({
    ...base,
    type: z.literal('map'),
    over: z.string().min(1),
    node: nodeId,
    concurrency: z.number().int().min(1).max(64).default(4),
  }),
  z.strictObject({ ...base, type: z.literal('approval'), prompt: z.string().min(1) }),
])
export type WorkflowNode = z.infer<typeof workflowNode>

export const workflowDefinition = z.strictObject({
  name: z.string().min(1).max(200),
  description: z.string().max(4000).optional(),
  input: jsonObject.default({ type: 'object' }),
  nodes: z.array(workflowNode).min(1).max(500),
  output: z.string().optional(),
})
export type WorkflowDefinition = z.infer<typeof workflowDefinition>

export const workflowRow = z.strictObject({
  workflowId: z.string(),
  userId,
  name: z.string(),
  createdAt: z.date(),
  updatedAt: z.date(),
})

export const workflowVersionRow = z.strictObject({
  workflowVersionId: z.string(),
  userId,
  workflowId: z.string(),
  version: z.number().int().min(1),
  definitionJson: jsonObject,
  createdAt: z.date(),
})
