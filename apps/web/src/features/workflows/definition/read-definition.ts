/** Parses a definition, or explains why the text is none. The API validates its content. */
import type { Definition, JsonObject, WorkflowNode } from './definition.ts'
import { NODE_KINDS } from './definition.ts'

export type ReadDefinition = { definition: Definition } | { problem: string; at?: number }

export function readDefinition(text: string): ReadDefinition {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    const message = error instanceof Error ? error.message : 'It is not JSON.'
    const position = /position (\d+)/.exec(message)?.[1]
    return { problem: `This is not JSON: ${message}`, ...(position === undefined ? {} : { at: Number(position) }) }
  }
  if (!isObject(value)) return { problem: 'A definition is an object with a name and nodes.' }
  // A workflow from the API has the definition inside.
  const source = isObject(value.definition) ? value.definition : value
  const nodes = source.nodes ?? []
  if (!Array.isArray(nodes)) return { problem: '“nodes” must be a list.' }
  const wrong = nodes.findIndex((node) => !isNode(node))
  if (wrong >= 0)
    return { problem: `Node ${wrong + 1} needs an “id”, and a “type” that is one of ${NODE_KINDS.join(', ')}.` }
  const name = typeof source.name === 'string' ? source.name : ''
  return { definition: { ...source, name, nodes: nodes.map(whole) } as Definition }
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isNode = (node: unknown): boolean =>
  isObject(node) && typeof node.id === 'string' && NODE_KINDS.some((kind) => kind === node.type)

/** Adds empty strings for missing fields that the form needs. */
function whole(node: JsonObject): WorkflowNode {
  const texts = TEXTS[node.type as keyof typeof TEXTS]
  const missing = texts.filter((field) => typeof node[field] !== 'string').map((field) => [field, ''])
  return { ...node, ...Object.fromEntries(missing) } as unknown as WorkflowNode
}

const TEXTS = {
  tool: ['ref'],
  agent: ['prompt'],
  code: ['program'],
  branch: ['when'],
  map: ['over', 'node'],
  approval: ['message'],
} as const
