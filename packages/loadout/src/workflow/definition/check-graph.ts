/** Checks the graph of a definition: referenced nodes exist, there are no cycles, and every node is reachable. */

import type { FieldError } from '../../errors.ts'
import type { Json } from '../../schema/json.ts'
import { evaluateStatic } from '../expressions/evaluate-static.ts'
import { isList, typeOfValue } from '../expressions/functions.ts'
import type { Template } from '../expressions/template.ts'
import { childNodes, cycleProblem, edgesOf, findCycles, type PlannedNode } from './plan.ts'
import { addProblems } from './problems.ts'

type Planned = ReadonlyMap<string, PlannedNode>

export function checkGraph(planned: Planned, ids: ReadonlySet<string>): FieldError[] {
  const problems: FieldError[] = []
  for (const plannedNode of planned.values()) {
    addProblems(problems, afterProblems(plannedNode, planned, ids))
    addProblems(problems, childProblems(plannedNode, planned, ids))
    addProblems(problems, branchProblems(plannedNode, planned, ids))
    addProblems(problems, fieldProblems(plannedNode))
  }
  addProblems(problems, waitProblems(planned))
  addProblems(problems, neverProblems(planned))
  addProblems(problems, otherSideProblems(planned))
  return problems
}

function afterProblems({ node, index }: PlannedNode, planned: Planned, ids: ReadonlySet<string>): FieldError[] {
  return node.after.flatMap((id, at) => {
    const path = `nodes.${index}.after.${at}`
    if (!ids.has(id)) return [{ path, message: `in node '${node.id}': there is no node '${id}'` }]
    const parentId = planned.get(id)?.parentId
    return parentId === undefined
      ? []
      : [{ path, message: `in node '${node.id}': '${id}' is run by '${parentId}'; wait for that` }]
  })
}

/** A node that a map or `onError` runs belongs to that node only. */
function childProblems({ node, index }: PlannedNode, planned: Planned, ids: ReadonlySet<string>): FieldError[] {
  return childNodes(node).flatMap(({ id, field }) => {
    const report = (message: string) => [
      { path: `nodes.${index}.${field}`, message: `in node '${node.id}': ${message}` },
    ]
    if (!ids.has(id)) return report(`there is no node '${id}'`)
    const child = planned.get(id)
    if (!child) return []
    if (containsItself(id, planned)) return report(node.id === id ? 'it runs itself' : `it runs itself, by '${id}'`)
    if (child.parentId !== node.id) return report(`'${id}' is run by '${child.parentId}' already`)
    if (child.node.type === 'branch')
      return report(`'${id}' is a branch, which chooses among nodes of the workflow alone`)
    if (child.node.after.length > 0)
      return report(`'${id}' is run by it, and waits for nobody: leave its "after" empty`)
    return child.chosenBy.length > 0 ? report(`'${id}' is chosen by the branch '${child.chosenBy[0]?.branch}' too`) : []
  })
}

function containsItself(id: string, planned: Planned): boolean {
  const seen = new Set<string>()
  const stack = [id]
  for (let current = stack.pop(); current !== undefined; current = stack.pop()) {
    const node = planned.get(current)?.node
    for (const inner of node ? childNodes(node) : []) {
      if (inner.id === id) return true
      if (seen.has(inner.id)) continue
      seen.add(inner.id)
      stack.push(inner.id)
    }
  }
  return false
}

function branchProblems({ node, index }: PlannedNode, planned: Planned, ids: ReadonlySet<string>): FieldError[] {
  if (node.type !== 'branch') return []
  const problems: FieldError[] = []
  const report = (field: string, message: string) =>
    problems.push({ path: `nodes.${index}.${field}`, message: `in node '${node.id}': ${message}` })
  if (node.onTrue.length + node.onFalse.length === 0) report('onTrue', 'it leads nowhere')
  for (const side of ['onTrue', 'onFalse'] as const)
    for (const [at, id] of node[side].entries()) {
      if (!ids.has(id)) report(`${side}.${at}`, `there is no node '${id}'`)
      else if (id === node.id) report(`${side}.${at}`, 'it leads to itself')
      else if (side === 'onFalse' && node.onTrue.includes(id)) report(`${side}.${at}`, `'${id}' is on both sides`)
      else if (planned.get(id)?.parentId !== undefined)
        report(`${side}.${at}`, `'${id}' is run by '${planned.get(id)?.parentId}'`)
    }
  return problems
}

function waitProblems(planned: Planned): FieldError[] {
  const at = (id: string | undefined) => `nodes.${planned.get(id ?? '')?.index}`
  const { cycles, behind } = findCycles(edgesOf(planned))
  return [
    ...cycles.map((cycle) => cycleProblem(cycle, `${at(cycle[0])}.after`)),
    ...behind.map((id) => ({
      path: at(id),
      message: `'${id}' can never begin: it waits for nodes that are in a cycle`,
    })),
  ]
}

/** Nodes behind a branch whose constant condition never chooses them. */
function neverProblems(planned: Planned): FieldError[] {
  const fixed = new Map<string, boolean>()
  for (const [id, { node, texts }] of planned) {
    const value = node.type === 'branch' && texts.when?.names.length === 0 ? evaluateStatic(texts.when) : undefined
    if (typeof value === 'boolean') fixed.set(id, value)
  }
  return [...planned].flatMap(([id, { chosenBy, index }]) =>
    chosenBy.length > 0 && chosenBy.every(({ branch, on }) => fixed.has(branch) && fixed.get(branch) !== on)
      ? [
          {
            path: `nodes.${index}`,
            message: `'${id}' is never run: the condition of '${chosenBy[0]?.branch}' is always ${!chosenBy[0]?.on}`,
          },
        ]
      : [],
  )
}

/** Nodes on one side of a branch that depend only on the other side: they are always skipped. */
function otherSideProblems(planned: Planned): FieldError[] {
  const only = (id: string) => {
    const { chosenBy = [] } = planned.get(id) ?? {}
    return chosenBy.length === 1 ? chosenBy[0] : undefined
  }
  return [...planned].flatMap(([id, { needs, index }]) => {
    const own = only(id)
    const waits = [...needs].filter((need) => need !== own?.branch)
    const isOther = (need: string) => only(need)?.branch === own?.branch && only(need)?.on !== own?.on
    if (!own || waits.length === 0 || waits.length < needs.size || !waits.every(isOther)) return []
    return [
      {
        path: `nodes.${index}`,
        message: `'${id}' is never run: it waits for '${waits[0]}', which is on the other side of '${own.branch}'`,
      },
    ]
  })
}

/** Variable names that a map's `as` must not shadow. */
const TAKEN: readonly string[] = ['input', 'nodes', 'run', 'index', 'error']

export function fieldProblems({ node, texts, index }: PlannedNode): FieldError[] {
  const problems: FieldError[] = []
  const report = (field: string, message: string) =>
    problems.push({ path: `nodes.${index}.${field}`, message: `in node '${node.id}': ${message}` })
  const { type } = node
  if (type === 'map') {
    if (TAKEN.includes(node.as)) report('as', `'${node.as}' is a name of its own; choose another`)
    const over = fixed(texts.over)
    if (over !== undefined && !isList(over)) report('over', `must be a list, and is always ${typeOfValue(over)}`)
    if (node.timeoutMs !== undefined) report('timeoutMs', `a map has none; give it to the node '${node.node}'`)
  }
  if (type === 'branch') {
    const when = fixed(texts.when)
    if (when !== undefined && typeof when !== 'boolean')
      report('when', `must be true or false, and is always ${typeOfValue(when)}`)
  }
  if (type === 'branch' || type === 'approval')
    for (const field of ['timeoutMs', 'retry'] as const)
      if (node[field] !== undefined) report(field, `has no meaning for a node of type ${type}`)
  return problems
}

/** Value of a template without variables; undefined if it is not constant. */
const fixed = (template: Template | undefined): Json =>
  template && template.names.length === 0 ? evaluateStatic(template) : undefined
