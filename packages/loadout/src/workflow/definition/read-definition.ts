/**
 * Reads a definition and finds every problem at once, each with its place: a node that is wrong in itself keeps nothing
 * about the others from being told. Pure: what only the host knows (tools, programs) is checked in `check-definition.ts`.
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
import { checkNames, type Known } from './check-names.ts'
import { readTexts } from './node-templates.ts'
import { heldNodes, type Plan, type PlannedNode } from './plan.ts'
import { addProblems, MAX_PROBLEMS } from './problems.ts'

export interface ReadDefinition {
  problems: FieldError[]
  /** Only where there are none. */
  plan?: Plan
  /** What could be read, also where something else is wrong. */
  readable: Readable
}

export interface Readable extends Pick<Plan, 'nodes'> {
  brings: readonly string[]
}

const LARGEST = 4_000_000
/** Characters of all expressions of a definition. */
const MAX_EXPRESSIONS = 500_000
const shell = workflowDefinition.extend({ nodes: z.array(z.unknown()).min(1).max(MAX_NODES) })

export function readDefinition(raw: unknown): ReadDefinition {
  const read = createReader(MAX_EXPRESSIONS)
  const top = shell.safeParse(raw)
  const problems: FieldError[] = []
  if (!top.success) addProblems(problems, problemsOf(top.error, []))
  const { nodes: rawNodes, input, output, brings } = looseOf(raw)
  if (sizeOf(raw) > LARGEST)
    return { problems: [{ path: '(body)', message: 'is larger than 4 MB' }], readable: { nodes: new Map(), brings } }
  const nodes = readNodes(rawNodes, problems)
  const ids = new Set(rawNodes.flatMap((one) => idOf(one) ?? []))
  const planned = planNodes(nodes, { read, problems, ids })
  const known: Known = { nodes: planned, ids, input }
  for (const [id, { texts, index }] of planned)
    for (const [field, template] of Object.entries(texts))
      addProblems(
        problems,
        checkNames(known, { template, id, at: `nodes.${index}.${field}`, isErrorValue: field === 'onError.value' }),
      )
  addProblems(problems, checkGraph(planned, ids))
  addProblems(problems, schemaProblems(input, nodes))
  const ends = output === undefined ? undefined : readOutput(output, { read, problems, known })
  const readable = { nodes: planned, brings }
  if (problems.length > 0 || !top.success) return { problems, readable }
  const definition: WorkflowDefinition = { ...top.data, nodes: nodes.map(({ node }) => node) }
  return { problems, readable, plan: { definition, nodes: planned, output: ends, last: lastOf(planned) } }
}

/** The plan of a definition that was checked when it was saved. */
export function planOf(definition: unknown): Plan {
  const { plan, problems } = readDefinition(definition)
  if (!plan) throw invalidDefinition(problems)
  return plan
}

export function invalidDefinition(problems: readonly FieldError[]): HostError {
  const shown = problems.slice(0, MAX_PROBLEMS)
  const more = problems.length > shown.length ? '; and more' : ''
  const detail = `${shown.map(({ path, message }) => `${path}: ${message}`).join('; ')}${more}`
  return new HostError('invalid-input', { detail, errors: shown })
}

interface Placed {
  node: WorkflowNode
  index: number
}

function readNodes(raw: readonly unknown[], problems: FieldError[]): Placed[] {
  return raw.slice(0, MAX_NODES).flatMap((one, index) => {
    const { type } = (typeof one === 'object' && one !== null ? one : {}) as { type?: unknown }
    if (typeof type !== 'string' || !Object.hasOwn(NODE_TYPES, type)) {
      const message = `must be one of ${Object.keys(NODE_TYPES).join(', ')}`
      const told = type === undefined ? message : `${message}, and is ${JSON.stringify(type)?.slice(0, 60)}`
      addProblems(problems, [{ path: `nodes.${index}.type`, message: told }])
      return []
    }
    const parsed = NODE_TYPES[type as keyof typeof NODE_TYPES].safeParse(one)
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

function planNodes(nodes: readonly Placed[], { read, problems, ids }: Planning): Map<string, PlannedNode> {
  const planned = new Map<string, PlannedNode>()
  const first = new Map<string, number>()
  const holders = new Map<string, string>()
  for (const { node } of nodes) for (const { id } of heldNodes(node)) if (!holders.has(id)) holders.set(id, node.id)
  for (const { node, index } of nodes) {
    const known = first.get(node.id)
    if (known !== undefined) {
      addProblems(problems, [{ path: `nodes.${index}.id`, message: `'${node.id}' is the id of nodes.${known} too` }])
      continue
    }
    first.set(node.id, index)
    const { texts, problems: found } = readTexts(node, `nodes.${index}`, read)
    addProblems(problems, found)
    planned.set(node.id, { node, index, texts, needs: new Set(), chosenBy: [], heldBy: holders.get(node.id) })
  }
  const chosenBy = choices(planned)
  for (const one of planned.values()) {
    one.needs = needsOf(one, { planned, ids, seen: new Set() })
    one.chosenBy = chosenBy.get(one.node.id) ?? []
  }
  return planned
}

function choices(planned: ReadonlyMap<string, PlannedNode>): Map<string, { branch: string; on: boolean }[]> {
  const found = new Map<string, { branch: string; on: boolean }[]>()
  for (const { node } of planned.values()) {
    if (node.type !== 'branch') continue
    for (const [on, ids] of [[true, new Set(node.onTrue)] as const, [false, new Set(node.onFalse)] as const])
      for (const id of ids) {
        const known = found.get(id)
        if (known) known.push({ branch: node.id, on })
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

/** What it waits for itself, and what it must wait for on behalf of what it holds. */
function needsOf({ node, texts }: PlannedNode, needing: Needing): Set<string> {
  const { planned, ids, seen } = needing
  seen.add(node.id)
  const named = Object.values(texts).flatMap(({ names }: Template) =>
    names.flatMap(({ path }) => (path[0] === 'nodes' && path[1] !== undefined && ids.has(path[1]) ? [path[1]] : [])),
  )
  const held = heldNodes(node).flatMap(({ id }) => {
    const inner = planned.get(id)
    return inner && !seen.has(id) ? [...needsOf(inner, needing)] : []
  })
  return new Set([...node.after, ...named, ...held].filter((id) => planned.get(id)?.heldBy === undefined))
}

function readOutput(
  output: unknown,
  { read, problems, known }: { read: Reader; problems: FieldError[]; known: Known },
): Template {
  const { template, problems: found } = readTemplate(output, read)
  const at = (path: readonly string[]) => ['output', ...path].join('.')
  addProblems(
    problems,
    found.map(({ path, message }) => ({ path: at(path), message })),
  )
  addProblems(problems, checkNames(known, { template, at: 'output' }))
  return template
}

function schemaProblems(input: JsonObject, nodes: readonly Placed[]): FieldError[] {
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
    [...planned.values()].flatMap(({ needs, chosenBy }) => [...needs, ...chosenBy.map((one) => one.branch)]),
  )
  return [...planned].filter(([id, { heldBy }]) => heldBy === undefined && !waited.has(id)).map(([id]) => id)
}

function looseOf(raw: unknown): { nodes: unknown[]; input: JsonObject; output: unknown; brings: string[] } {
  const { nodes, input, output, brings } = (typeof raw === 'object' && raw !== null ? raw : {}) as Record<
    string,
    unknown
  >
  const isObject = typeof input === 'object' && input !== null && !Array.isArray(input)
  return {
    nodes: Array.isArray(nodes) ? nodes : [],
    input: isObject ? (input as JsonObject) : { type: 'object' },
    output,
    brings: Array.isArray(brings) ? brings.filter((one) => typeof one === 'string') : [],
  }
}

function sizeOf(raw: unknown): number {
  try {
    return JSON.stringify(raw)?.length ?? 0
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

const idOf = (one: unknown) => {
  const { id } = (typeof one === 'object' && one !== null ? one : {}) as { id?: unknown }
  return typeof id === 'string' ? id : undefined
}

const problemsOf = (error: z.ZodError, prefix: readonly PropertyKey[]) => invalidInput(error, prefix).errors ?? []
