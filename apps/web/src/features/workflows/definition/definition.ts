/**
 * An editable, possibly invalid workflow definition and immutable changes of it. Renaming or removing a node updates
 * all references to it.
 */
export type Json = unknown
export type JsonObject = Record<string, unknown>

export interface Retry {
  attempts: number
  backoffMs?: number
  factor?: number
}
export type OnError = 'fail' | 'continue' | { node: string } | { value: Json }

interface NodeBase {
  id: string
  title?: string
  description?: string
  after?: string[]
  timeoutMs?: number
  retry?: Retry
  onError?: OnError
}
export interface ToolNode extends NodeBase {
  type: 'tool'
  ref: string
  arguments?: JsonObject
}
export interface AgentNode extends NodeBase {
  type: 'agent'
  model?: string
  system?: string
  prompt: string
  tools?: string[]
  output?: JsonObject
  maxSteps?: number
  budget?: number
}
export interface CodeNode extends NodeBase {
  type: 'code'
  program: string
  language?: 'javascript' | 'typescript'
  input?: Json
  tools?: string[]
  limits?: JsonObject
}
export interface BranchNode extends NodeBase {
  type: 'branch'
  when: string
  onTrue?: string[]
  onFalse?: string[]
}
export interface MapNode extends NodeBase {
  type: 'map'
  over: string
  node: string
  as?: string
  concurrency?: number
}
export interface ApprovalNode extends NodeBase {
  type: 'approval'
  message: string
  arguments?: JsonObject
}
export type WorkflowNode = ToolNode | AgentNode | CodeNode | BranchNode | MapNode | ApprovalNode
export type NodeKind = WorkflowNode['type']

export interface Definition {
  name: string
  description?: string
  input?: JsonObject
  brings?: string[]
  nodes: WorkflowNode[]
  output?: Json
}

export const NODE_KINDS = ['tool', 'agent', 'code', 'branch', 'map', 'approval'] as const

export const emptyDefinition = (): Definition => ({
  name: '',
  input: { type: 'object', properties: {} },
  nodes: [],
})

/** An unused node id: `read_file`, `read_file_2`. */
export function freeId(definition: Definition, wanted: string): string {
  const cleaned = wanted.replace(/[^A-Za-z0-9_]+/g, '_').replace(/^[^A-Za-z]+/, '')
  const base = (cleaned === '' ? 'node' : cleaned).slice(0, 50)
  const taken = new Set(definition.nodes.map(({ id }) => id))
  for (let count = 1; ; count++) {
    const id = count === 1 ? base : `${base}_${count}`
    if (!taken.has(id)) return id
  }
}

export function newNode(definition: Definition, kind: NodeKind): WorkflowNode {
  const id = freeId(definition, FIRST_IDS[kind])
  if (kind === 'tool') return { id, type: kind, ref: '', arguments: {} }
  if (kind === 'agent') return { id, type: kind, prompt: '', tools: [] }
  if (kind === 'code') return { id, type: kind, program: '', tools: [] }
  if (kind === 'branch') return { id, type: kind, when: '', onTrue: [], onFalse: [] }
  if (kind === 'map') return { id, type: kind, over: '', node: '' }
  return { id, type: kind, message: '', arguments: {} }
}

const FIRST_IDS: Record<NodeKind, string> = {
  tool: 'call',
  agent: 'agent',
  code: 'program',
  branch: 'decide',
  map: 'each',
  approval: 'ask',
}

/** Inserts after `behind`, or at the end. */
export function addNode(definition: Definition, node: WorkflowNode, behind?: string): Definition {
  const index = definition.nodes.findIndex(({ id }) => id === behind)
  const nodes = [...definition.nodes]
  nodes.splice(index < 0 ? nodes.length : index + 1, 0, node)
  return { ...definition, nodes }
}

export function changeNode(definition: Definition, id: string, change: Partial<WorkflowNode>): Definition {
  const nodes = definition.nodes.map((node) => (node.id === id ? tidied({ ...node, ...change } as WorkflowNode) : node))
  return { ...definition, nodes }
}

/** Removes undefined fields. */
function tidied(node: WorkflowNode): WorkflowNode {
  return Object.fromEntries(Object.entries(node).filter(([, value]) => value !== undefined)) as unknown as WorkflowNode
}

export function moveNode(definition: Definition, id: string, by: -1 | 1): Definition {
  const from = definition.nodes.findIndex((node) => node.id === id)
  const to = from + by
  const node = definition.nodes[from]
  if (!node || to < 0 || to >= definition.nodes.length) return definition
  const nodes = definition.nodes.filter((other) => other !== node)
  nodes.splice(to, 0, node)
  return { ...definition, nodes }
}

export function duplicateNode(definition: Definition, id: string): { definition: Definition; id: string } {
  const node = definition.nodes.find((item) => item.id === id)
  if (!node) return { definition, id }
  const copy = { ...structuredClone(node), id: freeId(definition, `${id}_copy`) }
  return { definition: addNode(definition, copy, id), id: copy.id }
}

/** Removes all references to the node, except in expressions, which validation reports. */
export function removeNode(definition: Definition, id: string): Definition {
  const nodes = definition.nodes.filter((node) => node.id !== id).map((node) => withNames(node, id, undefined))
  return { ...definition, nodes }
}

export function renameNode(definition: Definition, from: string, to: string): Definition {
  if (from === to) return definition
  const nodes = definition.nodes.map((node) => {
    const renamed = withNames(inTexts(node, from, to), from, to)
    return node.id === from ? { ...renamed, id: to } : renamed
  })
  const { output } = definition
  return { ...definition, nodes, ...(output === undefined ? {} : { output: renamedIn(output, from, to) }) }
}

/** Replaces a node id in lists and fields. */
function withNames(node: WorkflowNode, from: string, to: string | undefined): WorkflowNode {
  const list = (ids: string[] | undefined) => ids?.flatMap((id) => (id !== from ? [id] : to === undefined ? [] : [to]))
  const changed = { ...node, ...(node.after ? { after: list(node.after) } : {}) } as WorkflowNode
  if (changed.type === 'branch') {
    if (changed.onTrue) changed.onTrue = list(changed.onTrue)
    if (changed.onFalse) changed.onFalse = list(changed.onFalse)
  }
  if (changed.type === 'map' && changed.node === from) changed.node = to ?? ''
  if (typeof changed.onError === 'object' && 'node' in changed.onError && changed.onError.node === from)
    changed.onError = to === undefined ? 'fail' : { node: to }
  return changed
}

const TEXTS = ['arguments', 'prompt', 'system', 'input', 'when', 'over', 'message', 'onError'] as const

function inTexts(node: WorkflowNode, from: string, to: string): WorkflowNode {
  const changed: JsonObject = { ...node }
  for (const field of TEXTS) if (changed[field] !== undefined) changed[field] = renamedIn(changed[field], from, to)
  return changed as unknown as WorkflowNode
}

function renamedIn(value: Json, from: string, to: string): Json {
  if (typeof value === 'string') return value.replace(nameOf(from), `$1${to}`)
  if (Array.isArray(value)) return value.map((inner) => renamedIn(inner, from, to))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, renamedIn(inner, from, to)]))
}

// Matches `nodes.read` and `nodes["read"]`, but not `nodes.reader`.
const nameOf = (id: string) => new RegExp(`(\\bnodes(?:\\.|\\[["']))${id}(?![\\w])`, 'g')

/** Node ids in the expressions of a value. */
export function namedIn(value: Json): string[] {
  if (typeof value === 'string')
    return [...value.matchAll(/\bnodes(?:\.|\[["'])([A-Za-z][\w-]*)/g)].map(([, id = '']) => id)
  if (Array.isArray(value)) return value.flatMap(namedIn)
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(namedIn)
}

/** Values of a node that may contain expressions. */
export function textsOf(node: WorkflowNode): Json[] {
  const fields = node as unknown as JsonObject
  const { onError } = node
  const value = typeof onError === 'object' && 'value' in onError ? onError.value : undefined
  return [...TEXTS.filter((field) => field !== 'onError').map((field) => fields[field]), value]
}
