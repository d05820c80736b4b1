/** What a node says that could never work: a name that hides others, a value of the wrong kind, a setting without effect. */
import type { FieldError } from '../errors.ts'
import type { Json } from '../schema/json.ts'
import { evaluateStatic } from './evaluate-static.ts'
import { isList, kindOf } from './functions.ts'
import type { PlannedNode } from './plan.ts'
import type { Template } from './template.ts'

const TAKEN: readonly string[] = ['input', 'nodes', 'run', 'index', 'error']

export function fieldProblems({ node, texts, index }: PlannedNode): FieldError[] {
  const problems: FieldError[] = []
  const tell = (field: string, message: string) =>
    problems.push({ path: `nodes.${index}.${field}`, message: `in node '${node.id}': ${message}` })
  const { type } = node
  if (type === 'map') {
    if (TAKEN.includes(node.as)) tell('as', `'${node.as}' is a name of its own; choose another`)
    const over = fixed(texts.over)
    if (over !== undefined && !isList(over)) tell('over', `must be a list, and is always ${kindOf(over)}`)
    if (node.timeoutMs !== undefined) tell('timeoutMs', `a map has none; give it to the node '${node.node}'`)
  }
  if (type === 'branch') {
    const when = fixed(texts.when)
    if (when !== undefined && typeof when !== 'boolean')
      tell('when', `must be true or false, and is always ${kindOf(when)}`)
  }
  if (type === 'branch' || type === 'approval')
    for (const field of ['timeoutMs', 'retry'] as const)
      if (node[field] !== undefined) tell(field, `has no meaning for a node of type ${type}`)
  return problems
}

/** What it gives whatever the input; undefined where that is not known. */
const fixed = (template: Template | undefined): Json =>
  template && template.names.length === 0 ? evaluateStatic(template) : undefined
