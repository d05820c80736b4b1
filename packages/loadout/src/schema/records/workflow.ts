/** Workflows: stored, versioned graphs of nodes. `workflow/` evaluates the `{{ expr }}` templates in their texts. */
import { z } from 'zod'
import { stepLimit, tokenBudget } from '../app-config.ts'
import { toolkitId, userId } from '../ids.ts'
import { json, jsonObject } from '../json.ts'
import { activationRef } from '../toolkit/activation.ts'
import { toolRef } from '../toolkit/tool.ts'
import { programLimits } from './program.ts'

export const nodeId = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, 'must be a letter, then up to 63 letters, digits, "_" or "-"')

const prompt = z.string().min(1, 'must not be empty').max(200_000)
/** Toolkits and tools that a node may call: `filesystem`, `filesystem.read_file`, `github.list_*`. */
const tools = z.array(activationRef).max(200).default([])

const base = {
  id: nodeId,
  title: z.string().max(200).optional(),
  description: z.string().max(4000).optional(),
  /** Nodes that must finish first. Nodes in expressions are dependencies without being listed. */
  after: z.array(nodeId).max(500).default([]),
  /** Timeout of one attempt in ms, without time spent waiting for approval. */
  timeoutMs: z.number().int().min(1).max(86_400_000).optional(),
  retry: z
    .strictObject({
      /** Total number of attempts. */
      attempts: z.number().int().min(1).max(10),
      /** Delay before the second attempt in ms; each further delay is `factor` times longer. */
      backoffMs: z.number().int().min(0).max(60_000).default(1000),
      factor: z.number().min(1).max(10).default(2),
    })
    .optional(),
  /**
   * `fail`: the run fails. `continue`: the run continues and the output is null. A value, or the output of another
   * node, replaces the output.
   */
  onError: z
    .union([z.enum(['fail', 'continue']), z.strictObject({ node: nodeId }), z.strictObject({ value: json })])
    .default('fail'),
}

export const toolNode = z.strictObject({
  ...base,
  type: z.literal('tool'),
  ref: toolRef,
  arguments: jsonObject.default({}),
})
export const agentNode = z.strictObject({
  ...base,
  type: z.literal('agent'),
  /** `provider:model`. @default the host's */
  model: z
    .string()
    .max(200)
    .regex(/^[a-z-]+:\S+$/, 'must be provider:model, for example anthropic:claude-sonnet-4-5')
    .optional(),
  system: prompt.optional(),
  prompt,
  tools,
  /** JSON Schema of the output. @default text */
  output: jsonObject.optional(),
  maxSteps: stepLimit.default(10),
  /** Token budget of one attempt; the attempt ends with the step that reaches it. @default none */
  budget: tokenBudget.optional(),
})
export const codeNode = z.strictObject({
  ...base,
  type: z.literal('code'),
  program: z.string().min(1, 'must not be empty').max(1_000_000),
  language: z.enum(['javascript', 'typescript']).optional(),
  /** Value of `input` in the program. */
  input: json.optional(),
  tools,
  limits: programLimits.optional(),
})
export const branchNode = z.strictObject({
  ...base,
  type: z.literal('branch'),
  when: z.string().min(1, 'must not be empty').max(4000),
  onTrue: z.array(nodeId).max(500).default([]),
  onFalse: z.array(nodeId).max(500).default([]),
})
export const mapNode = z.strictObject({
  ...base,
  type: z.literal('map'),
  /** Expression that evaluates to a list. */
  over: z.string().min(1, 'must not be empty').max(4000),
  /** Node that runs for each item. No other node may reference it. */
  node: nodeId,
  /** Name of the item in expressions; `index` is also defined. */
  as: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/, 'must be a name: letters, digits and "_"')
    .default('item'),
  concurrency: z.number().int().min(1).max(64).default(4),
})
export const approvalNode = z.strictObject({
  ...base,
  type: z.literal('approval'),
  message: z.string().min(1, 'must not be empty').max(10_000),
  /** Shown with the approval request. */
  arguments: jsonObject.default({}),
})

export const NODE_TYPES = {
  tool: toolNode,
  agent: agentNode,
  code: codeNode,
  branch: branchNode,
  map: mapNode,
  approval: approvalNode,
} as const
export const workflowNode = z.discriminatedUnion('type', [
  toolNode,
  agentNode,
  codeNode,
  branchNode,
  mapNode,
  approvalNode,
])
export type WorkflowNode = z.infer<typeof workflowNode>
export type NodeOf<T extends WorkflowNode['type']> = Extract<WorkflowNode, { type: T }>

export const MAX_NODES = 500

export const workflowDefinition = z.strictObject({
  name: z.string().trim().min(1, 'must not be empty').max(200),
  description: z.string().max(4000).optional(),
  /** JSON Schema of the input. */
  input: jsonObject.default({ type: 'object' }),
  /** Toolkits that the caller of a run provides. Saving a workflow does not check them. */
  brings: z.array(toolkitId).max(16).default([]),
  nodes: z.array(workflowNode).min(1).max(MAX_NODES),
  /** Output with expressions. @default outputs of the last nodes */
  output: json.optional(),
})
export type WorkflowDefinition = z.infer<typeof workflowDefinition>
export type WorkflowInput = z.input<typeof workflowDefinition>

export const workflowRow = z.strictObject({
  workflowId: z.string(),
  userId,
  name: z.string(),
  createdAt: z.date(),
  updatedAt: z.date(),
})
export type WorkflowRow = z.infer<typeof workflowRow>

/** An immutable version of a workflow. Every save creates the next one. */
export const workflowVersionRow = z.strictObject({
  workflowVersionId: z.string(),
  userId,
  workflowId: z.string(),
  version: z.number().int().min(1),
  definitionJson: jsonObject,
  createdAt: z.date(),
})
export type WorkflowVersionRow = z.infer<typeof workflowVersionRow>

/** Workflow in the API, in one version. */
export const workflowView = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string().optional(),
  version: z.number().int(),
  workflowVersionId: z.string(),
  definition: workflowDefinition,
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
})
export type WorkflowView = z.infer<typeof workflowView>
