/**
 * Parses a definition and reports all problems with their paths; an invalid node does not hide problems of other nodes.
 * Pure: `check-definition.ts` checks what needs the host (tools, programs).
 */
import { z } from 'zod'
import type { FieldError } from '../../errors.ts'
import { HostError } from '../../errors.ts'
import { compileSchema } from '../../json-schema/validator.ts'
import { invalidInput, type JsonObject } from '../../schema/json.ts'
import {
  MAX_NODES,
  NODE_TYPES,
  type WorkflowDefinition,
  type WorkflowNode,
  workflowDefinition,
} from '../../schema/records/workflow.ts'
import { createReader } from '../expressions/expression.ts'
import { type Reader, readTemplate, type Template } from '../expressions/template.ts'
import { checkGraph } from './check-graph.ts'
import { checkNames, type NameContext } from './check-names.ts'
import { readTexts } from './node-templates.ts'
import { childNodes, type Plan, type PlannedNode } from './plan.ts'
import { addProblems, MAX_PROBLEMS } from './problems.ts'

export interface ReadDefinition {
  problems: FieldError[]
  /** Set only if there are no problems. */
  plan?: Plan
  /** The readable part of the definition, even if other parts are invalid. */
  readable: Readable
}

export interface Readable extends Pick<Plan, 'nodes'> {
  brings: readonly string[]
}

const MAX_DEFINITION_LENGTH = 4_000_000
/** Max characters of all expressions in a definition. */
const MAX_EXPRESSIONS = 500_000
const shell = workflowDefinition.extend({ nodes: z.array(z.unknown()).min(1).max(MAX_NODES) })

export function readDefinition(raw: unknown): ReadDefinition {
  const read = createReader(MAX_EXPRESSIONS)
  const top = shell.safeParse(raw)
  const problems: FieldError[] = []
  if (!top.success) addProblems(problems, problemsOf(top.error, []))
  const { nodes: rawNodes, input, output, brings } = readLoosely(raw)
  if (sizeOf(raw) > MAX_DEFINITION_LENGTH)
    return { problems: [{ path: '(body)', message: 'is larger than 4 MB' }], readable: { nodes: new Map(), brings } }
  const nodes = readNodes(rawNodes, problems)
  const ids = new Set(rawNodes.flatMap((node) => idOf(node) ?? []))
  const planned = planNodes(nodes, { read, problems, ids })
  const context: NameContext = { nodes: planned, ids, input }
  for (const [id, { texts, index }] of planned)
    for (const [field, template] of Object.entries(texts))
      addProblems(
        problems,
        checkNames(context, { template, id, at: `nodes.${index}.${field}`, isErrorValue: field === 'onError.value' }),
      )
  addProblems(problems, checkGraph(planned, ids))
  addProblems(problems, schemaProblems(input, nodes))
  const outputTemplate = output === undefined ? undefined : readOutput(output, { read, problems, context })
  const readable = { nodes: planned, brings }
  if (problems.length > 0 || !top.success) return { problems, readable }
  const definition: WorkflowDefinition = { ...top.data, nodes: nodes.map(({ node }) => node) }
  return { problems, readable, plan: { definition, nodes: planned, output: outputTemplate, last: lastOf(planned) } }
}

/** Plan of a definition that passed validation when it was saved. */
export function planOf(definition: unknown): Plan {
  const { plan, problems } = readDefinition(definition)
  if (!plan) throw invalidDefinition(problems)
  return plan
}

export function invalidDefinition(problems: readonly FieldError[]): HostError {
  const listed = problems.slice(0, MAX_PROBLEMS)
  const more = problems.length > listed.length ? '; and more' : ''
  const detail = `${listed.map(({ path, message }) => `${path}: ${message}`).join('; ')}${more}`
  return new HostError('invalid-input', { detail, errors: listed })
}

interface IndexedNode {
  node: WorkflowNode
  index: number
}

function readNodes(raw: readonly unknown[], problems: FieldError[]): IndexedNode[] {
  return raw.slice(0, MAX_NODES).flatMap((item, index) => {
    const { type } = (typeof item === 'object' && item !== null ? item : {}) as { type?: unknown }
    if (typeof type !== 'string' || !Object.hasOwn(NODE_TYPES, type)) {
      const message = `must be one of ${Object.keys(NODE_TYPES).join(', ')}`
      const fullMessage = type === undefined ? message : `${message}, and is ${JSON.stringify(type)?.slice(0, 60)}`
      addProblems(problems, [{ path: `nodes.${index}.type`, message: fullMessage }])
      return []
    }
    const parsed = NODE_TYPES[type as keyof typeof NODE_TYPES].safeParse(item)
    if (parsed.success) return [{ node: parsed.data, index }]
    addProblems(problems, problemsOf(parsed.error, ['nodes', index]))
    return []
  })
}

interface Planning {
  read: Reader
  problems: FieldError[]
  ids: ReadonlySet<string>
}

function planNodes(nodes: readonly IndexedNode[], { read, problems, ids }: Planning): Map<string, PlannedNode> {
  const planned = new Map<string, PlannedNode>()
  const first = new Map<string, number>()
  const parents = new Map<string, string>()
  for (const { node } of nodes) for (const { id } of childNodes(node)) if (!parents.has(id)) parents.set(id, node.id)
  for (const { node, index } of nodes) {
    const firstIndex = first.get(node.id)
    if (firstIndex !== undefined) {
      addProblems(problems, [
        { path: `nodes.${index}.id`, message: `'${node.id}' is the id of nodes.${firstIndex} too` },
      ])
      continue
    }
    first.set(node.id, index)
    const { texts, problems: found } = readTexts(node, `nodes.${index}`, read)
    addProblems(problems, found)
    planned.set(node.id, { node, index, texts, needs: new Set(), chosenBy: [], parentId: parents.get(node.id) })
  }
  const chosenBy = choices(planned)
  for (const plannedNode of planned.values()) {
    plannedNode.needs = needsOf(plannedNode, { planned, ids, seen: new Set() })
    plannedNode.chosenBy = chosenBy.get(plannedNode.node.id) ?? []
  }
  return planned
}

function choices(planned: ReadonlyMap<string, PlannedNode>): Map<string, { branch: string; on: boolean }[]> {
  const found = new Map<string, { branch: string; on: boolean }[]>()
  for (const { node } of planned.values()) {
    if (node.type !== 'branch') continue
    for (const [on, ids] of [[true, new Set(node.onTrue)] as const, [false, new Set(node.onFalse)] as const])
      for (const id of ids) {
        const branches = found.get(id)
        if (branches) branches.push({ branch: node.id, on })
        else found.set(id, [{ branch: node.id, on }])
      }
  }
  return found
}

interface Needing {
  planned: ReadonlyMap<string, PlannedNode>
  ids: ReadonlySet<string>
  seen: Set<string>
}

/** Dependencies of a node, including those of its children. */
function needsOf({ node, texts }: PlannedNode, needing: Needing): Set<string> {
  const { planned, ids, seen } = needing
  seen.add(node.id)
  const named = Object.values(texts).flatMap(({ names }: Template) =>
    names.flatMap(({ path }) => (path[0] === 'nodes' && path[1] !== undefined && ids.has(path[1]) ? [path[1]] : [])),
  )
  const childNeeds = childNodes(node).flatMap(({ id }) => {
    const inner = planned.get(id)
    return inner && !seen.has(id) ? [...needsOf(inner, needing)] : []
  })
  return new Set([...node.after, ...named, ...childNeeds].filter((id) => planned.get(id)?.parentId === undefined))
}

function readOutput(
  output: unknown,
  { read, problems, context }: { read: Reader; problems: FieldError[]; context: NameContext },
): Template {
  const { template, problems: found } = readTemplate(output, read)
  const at = (path: readonly string[]) => ['output', ...path].join('.')
  addProblems(
    problems,
    found.map(({ path, message }) => ({ path: at(path), message })),
  )
  addProblems(problems, checkNames(context, { template, at: 'output' }))
  return template
}

function schemaProblems(input: JsonObject, nodes: readonly IndexedNode[]): FieldError[] {
  const problems = schemaProblem(input, 'input')
  if (input.type !== 'object') problems.push({ path: 'input', message: 'must be a JSON Schema with "type": "object"' })
  for (const { node, index } of nodes)
    if (node.type === 'agent' && node.output) problems.push(...schemaProblem(node.output, `nodes.${index}.output`))
  return problems
}

function schemaProblem(schema: JsonObject, at: string): FieldError[] {
  const compiled = compileSchema(schema)
  if (compiled.ok) return []
  return compiled.errors.map(({ path, message }) => ({ path: path === '(root)' ? at : `${at}.${path}`, message }))
}

function lastOf(planned: ReadonlyMap<string, PlannedNode>): string[] {
  const waited = new Set(
    [...planned.values()].flatMap(({ needs, chosenBy }) => [...needs, ...chosenBy.map((choice) => choice.branch)]),
  )
  return [...planned].filter(([id, { parentId }]) => parentId === undefined && !waited.has(id)).map(([id]) => id)
}

function readLoosely(raw: unknown): { nodes: unknown[]; input: JsonObject; output: unknown; brings: string[] } {
  const { nodes, input, output, brings } = (typeof raw === 'object' && raw !== null ? raw : {}) as Record<
    string,
    unknown
  >
  const isObject = typeof input === 'object' && input !== null && !Array.isArray(input)
  return {
    nodes: Array.isArray(nodes) ? nodes : [],
    input: isObject ? (input as JsonObject) : { type: 'object' },
    output,
    brings: Array.isArray(brings) ? brings.filter((name) => typeof name === 'string') : [],
  }
}

function sizeOf(raw: unknown): number {
  try {
    return JSON.stringify(raw)?.length ?? 0
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

const idOf = (node: unknown) => {
  const { id } = (typeof node === 'object' && node !== null ? node : {}) as { id?: unknown }
  return typeof id === 'string' ? id : undefined
}

const problemsOf = (error: z.ZodError, prefix: readonly PropertyKey[]) => invalidInput(error, prefix).errors ?? []
