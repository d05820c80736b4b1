/**
 * Checks that variables in expressions can exist: an input of the schema, a node, or a variable of an enclosing map.
 */
import type { FieldError } from '../../errors.ts'
import type { JsonObject } from '../../schema/json.ts'
import type { NamedPath } from '../expressions/expression.ts'
import type { Template } from '../expressions/template.ts'
import type { PlannedNode } from './plan.ts'

export interface NameContext {
  nodes: ReadonlyMap<string, Pick<PlannedNode, 'node' | 'parentId'>>
  /** All node IDs in the definition, including those of invalid nodes. */
  ids: ReadonlySet<string>
  input: JsonObject
}

/** Fields of `nodes.<id>`. */
const NODE_FIELDS = ['output', 'status', 'error']

/** Variables besides `input`, `nodes` and `run`: those of enclosing maps and of `onError`. */
export function scopeOf(context: NameContext, id: string): Set<string> {
  const names = new Set<string>()
  const seen = new Set<string>()
  for (let current = id; !seen.has(current); ) {
    seen.add(current)
    const parentId = context.nodes.get(current)?.parentId
    const parent = parentId === undefined ? undefined : context.nodes.get(parentId)?.node
    if (!parent) break
    if (parent.type === 'map' && parent.node === current) names.add(parent.as).add('index')
    if (typeof parent.onError === 'object' && 'node' in parent.onError && parent.onError.node === current)
      names.add('error')
    current = parent.id
  }
  return names
}

export interface NamedNode {
  template: Template
  /** Path of the template in the definition. */
  at: string
  /** Node that contains the template; undefined for the workflow output. */
  id?: string
  isErrorValue?: boolean
}

export function* checkNames(
  context: NameContext,
  { template, at, id, isErrorValue }: NamedNode,
): Generator<FieldError> {
  const scope = id === undefined ? new Set<string>() : scopeOf(context, id)
  if (isErrorValue) scope.add('error')
  const where = id === undefined ? '' : `in node '${id}': `
  for (const name of template.names) {
    const message = problemOf(context, name, { scope, id })
    if (message !== undefined) yield { path: [at, ...name.within].join('.'), message: `${where}${message}` }
  }
}

interface Where {
  scope: ReadonlySet<string>
  id: string | undefined
}

function problemOf(context: NameContext, { path, isOpen }: NamedPath, { scope, id }: Where): string | undefined {
  const [root = '', first, second] = path
  if (scope.has(root)) return undefined
  if (root === 'run')
    return first === undefined || ['id', 'startedAt'].includes(first)
      ? undefined
      : `there is no 'run.${first}'; there are: run.id, run.startedAt`
  if (root === 'input') return inputProblem(context.input, path.slice(1), ['input'])
  if (root !== 'nodes') return `there is no '${root}'; there are: ${['input', 'nodes', 'run', ...scope].join(', ')}`
  if (first === undefined)
    return `a node must be named where it is written: nodes.<id>${isOpen ? ', not nodes[…]' : ''}`
  if (!context.ids.has(first)) return `there is no node '${first}'`
  if (first === id) return 'it names its own output, which is not there yet'
  const parentId = context.nodes.get(first)?.parentId
  if (parentId !== undefined) return `the node '${first}' is run by '${parentId}'; use nodes.${parentId}`
  if (second !== undefined && !NODE_FIELDS.includes(second))
    return `a node has ${NODE_FIELDS.join(', ')}, not '${second}': nodes.${first}.output.${second}`
  return undefined
}

/** A closed schema rejects properties that it does not list. */
function inputProblem(schema: JsonObject, path: readonly string[], walked: readonly string[]): string | undefined {
  const [name, ...rest] = path
  const { properties } = schema
  if (name === undefined || typeof properties !== 'object' || properties === null || isOpenSchema(schema))
    return undefined
  if (!Object.hasOwn(properties, name)) {
    const available = Object.keys(properties).slice(0, 20).join(', ')
    return `there is no input '${[...walked.slice(1), name].join('.')}'; there are: ${available || 'none'}`
  }
  const inner = (properties as JsonObject)[name]
  return typeof inner === 'object' && inner !== null && !Array.isArray(inner)
    ? inputProblem(inner as JsonObject, rest, [...walked, name])
    : undefined
}

const OPENS = [
  'patternProperties',
  'allOf',
  'anyOf',
  'oneOf',
  '$ref',
  '$dynamicRef',
  'if',
  'dependentSchemas',
  'items',
  'prefixItems',
]
const isOpenSchema = (schema: JsonObject) =>
  (schema.additionalProperties !== undefined && schema.additionalProperties !== false) ||
  OPENS.some((keyword) => Object.hasOwn(schema, keyword))
