/** Lists the template fields of each node type and parses them. */
import type { FieldError } from '../../errors.ts'
import type { Json } from '../../schema/json.ts'
import type { WorkflowNode } from '../../schema/records/workflow.ts'
import { type Reader, readCondition, readTemplate, type Template } from '../expressions/template.ts'
import type { TextField } from './plan.ts'

export interface NodeTexts {
  texts: Partial<Record<TextField, Template>>
  problems: FieldError[]
}

/** `at` is the path of the node, such as `nodes.3`. */
export function readTexts(node: WorkflowNode, at: string, read: Reader): NodeTexts {
  const texts: NodeTexts['texts'] = {}
  const problems: FieldError[] = []
  for (const [field, value, isCondition] of fieldsOf(node)) {
    const { template, problems: found } = isCondition ? readCondition(value as string, read) : readTemplate(value, read)
    texts[field] = template
    problems.push(
      ...found.map(({ path, message }) => ({
        path: [at, field, ...path].join('.'),
        message: `in node '${node.id}': ${message}`,
      })),
    )
  }
  return { texts, problems }
}

function fieldsOf(node: WorkflowNode): [field: TextField, value: Json, isCondition?: true][] {
  const own: [TextField, Json, true?][] = []
  if (node.type === 'tool') own.push(['arguments', node.arguments])
  if (node.type === 'agent') own.push(['prompt', node.prompt])
  if (node.type === 'agent' && node.system !== undefined) own.push(['system', node.system])
  if (node.type === 'code' && node.input !== undefined) own.push(['input', node.input])
  if (node.type === 'branch') own.push(['when', node.when, true])
  if (node.type === 'map') own.push(['over', node.over, true])
  if (node.type === 'approval') own.push(['message', node.message], ['arguments', node.arguments])
  if (typeof node.onError === 'object' && 'value' in node.onError)
    own.push(['onError.value', node.onError.value ?? null])
  return own
}
