/** Expression suggestions of a node: inputs, outputs of other nodes, and local names of maps and error handlers. */

import { behindOf, nodeOwners } from '../graph/graph.ts'
import type { Definition, JsonObject } from './definition.ts'

export interface Suggestion {
  expression: string
  about: string
}

/** Output schema of a tool by ref. */
export type OutputSchemas = (ref: string) => JsonObject | undefined

const MAX_DEPTH = 3
const MAX_SUGGESTIONS = 200

export function suggestionsFor(definition: Definition, id: string | undefined, schemas: OutputSchemas): Suggestion[] {
  return [
    ...(id === undefined ? [] : localNames(definition, id)),
    ...inputs(definition),
    ...outputs(definition, id, schemas),
    { expression: 'run.id', about: 'The id of the run' },
    { expression: 'run.startedAt', about: 'When the run began' },
  ].slice(0, MAX_SUGGESTIONS)
}

function inputs({ input = {} }: Definition): Suggestion[] {
  const found = fieldsOf(input, 'input', MAX_DEPTH)
  return found.length === 0 ? [{ expression: 'input', about: 'What the workflow is given' }] : found
}

function fieldsOf(schema: JsonObject | undefined, at: string, depth: number): Suggestion[] {
  const properties = (schema?.properties ?? {}) as Record<string, JsonObject>
  if (typeof properties !== 'object' || depth === 0) return []
  return Object.entries(properties).flatMap(([name, field]) => {
    const expression = /^[A-Za-z_]\w*$/.test(name) ? `${at}.${name}` : `${at}[${JSON.stringify(name)}]`
    return [{ expression, about: aboutOf(field) }, ...fieldsOf(field, expression, depth - 1)]
  })
}

function aboutOf(field: JsonObject | undefined): string {
  const { type, description } = (field ?? {}) as { type?: unknown; description?: unknown }
  const text = typeof description === 'string' ? description.slice(0, 80) : ''
  return [typeof type === 'string' ? type : undefined, text || undefined].filter(Boolean).join(', ')
}

function outputs(definition: Definition, id: string | undefined, schemas: OutputSchemas): Suggestion[] {
  const owners = nodeOwners(definition)
  const behind = id === undefined ? new Set<string>() : behindOf(definition, id)
  return definition.nodes.flatMap((node) => {
    // A node that another node runs has no output of its own.
    if (node.id === id || behind.has(node.id) || owners.has(node.id)) return []
    const at = /^\w+$/.test(node.id) ? `nodes.${node.id}` : `nodes[${JSON.stringify(node.id)}]`
    const schema = node.type === 'tool' ? schemas(node.ref) : node.type === 'agent' ? node.output : undefined
    const about =
      node.type === 'map' ? `A list: what ${node.node || 'its node'} gave for each item` : `What ${node.id} gave`
    return [{ expression: `${at}.output`, about }, ...fieldsOf(schema, `${at}.output`, MAX_DEPTH - 1)]
  })
}

function localNames(definition: Definition, id: string): Suggestion[] {
  const holder = definition.nodes.find(({ id: nodeId }) => nodeId === nodeOwners(definition).get(id))
  if (!holder) return []
  const isBody = holder.type === 'map' && holder.node === id
  if (isBody)
    return [
      { expression: holder.as ?? 'item', about: `An item of ${holder.id}` },
      { expression: 'index', about: 'Its place in the list, from 0' },
    ]
  return [{ expression: 'error.message', about: `Why ${holder.id} failed` }]
}
