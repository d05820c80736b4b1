/** Maps problems of a definition to nodes and fields. */
import type { Definition } from './definition.ts'

export interface DefinitionProblem {
  path: string
  message: string
  action?: string
}

export interface PlacedProblem extends DefinitionProblem {
  /** Path inside the node, or inside the definition. */
  field: string
}

/** Problems of the node at an index. */
export function ofNode(problems: readonly DefinitionProblem[], index: number): PlacedProblem[] {
  const prefix = `nodes.${index}`
  return problems.flatMap((problem) => {
    if (problem.path !== prefix && !problem.path.startsWith(`${prefix}.`)) return []
    return [{ ...problem, field: problem.path.slice(prefix.length + 1) }]
  })
}

/** Problems outside of nodes. */
export const ofWorkflow = (problems: readonly DefinitionProblem[]): PlacedProblem[] =>
  problems.filter(({ path }) => !/^nodes\.\d/.test(path)).map((problem) => ({ ...problem, field: problem.path }))

/** Messages of a field and its children. */
export function atField(problems: readonly PlacedProblem[], field: string): string | undefined {
  const found = problems.filter((problem) => problem.field === field || problem.field.startsWith(`${field}.`))
  return found.length === 0 ? undefined : found.map(sentenceOf).join(' ')
}

/** Problems without a form field, shown above the form. */
export const notAt = (problems: readonly PlacedProblem[], fields: readonly string[]): PlacedProblem[] =>
  problems.filter(({ field }) => !fields.some((name) => field === name || field.startsWith(`${name}.`)))

/** Formats a message as a sentence: API messages continue the field name and repeat the node. */
export function sentenceOf({ message, action, field }: PlacedProblem): string {
  const bare = message.replace(/^in node '[^']*': /, '')
  const subject = field.split('.').at(-1) ?? ''
  const text = /^(must|is|has|holds|names|needs) /.test(bare) && subject !== '' ? `${subject} ${bare}` : bare
  const whole = `${text.charAt(0).toUpperCase()}${text.slice(1)}`
  const ended = /[.!?]$/.test(whole) ? whole : `${whole}.`
  return action ? `${ended} ${action}` : ended
}

/** Updates node indexes in problem paths after a change, by node id. */
export function movedWith(
  problems: readonly DefinitionProblem[],
  before: Definition,
  after: Definition,
): DefinitionProblem[] {
  return problems.flatMap((problem) => {
    const [, index, rest = ''] = /^nodes\.(\d+)(.*)$/.exec(problem.path) ?? []
    if (index === undefined) return [problem]
    const node = before.nodes[Number(index)]
    const now = after.nodes.findIndex(({ id }) => id === node?.id)
    return now < 0 ? [] : [{ ...problem, path: `nodes.${now}${rest}` }]
  })
}
