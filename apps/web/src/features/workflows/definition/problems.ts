/** Problems of a definition by their place: those of a node at the node, those of a field at the field. */
import type { Definition } from './definition.ts'

export interface Problem {
  path: string
  message: string
  action?: string
}

export interface PlacedProblem extends Problem {
  /** Within the node, or within the definition where it is of none. */
  field: string
}

/** Those of one node, by its place in the list. */
export function ofNode(problems: readonly Problem[], index: number): PlacedProblem[] {
  const prefix = `nodes.${index}`
  return problems.flatMap((problem) => {
    if (problem.path !== prefix && !problem.path.startsWith(`${prefix}.`)) return []
    return [{ ...problem, field: problem.path.slice(prefix.length + 1) }]
  })
}

/** Those of the workflow itself. */
export const ofWorkflow = (problems: readonly Problem[]): PlacedProblem[] =>
  problems.filter(({ path }) => !/^nodes\.\d/.test(path)).map((problem) => ({ ...problem, field: problem.path }))

/** What is said of a field, and of what is inside it. */
export function atField(problems: readonly PlacedProblem[], field: string): string | undefined {
  const found = problems.filter((problem) => problem.field === field || problem.field.startsWith(`${field}.`))
  return found.length === 0 ? undefined : found.map(sentenceOf).join(' ')
}

/** What no field of the form says: shown above it. */
export const notAt = (problems: readonly PlacedProblem[], fields: readonly string[]): PlacedProblem[] =>
  problems.filter(({ field }) => !fields.some((name) => field === name || field.startsWith(`${name}.`)))

/** The API's messages go on from the field's name, and name the node that is looked at anyway. */
export function sentenceOf({ message, action, field }: PlacedProblem): string {
  const bare = message.replace(/^in node '[^']*': /, '')
  const subject = field.split('.').at(-1) ?? ''
  const text = /^(must|is|has|holds|names|needs) /.test(bare) && subject !== '' ? `${subject} ${bare}` : bare
  const whole = `${text.charAt(0).toUpperCase()}${text.slice(1)}`
  const ended = /[.!?]$/.test(whole) ? whole : `${whole}.`
  return action ? `${ended} ${action}` : ended
}

/** A change moves places: what was said of nodes follows them by their ids. */
export function movedWith(problems: readonly Problem[], before: Definition, after: Definition): Problem[] {
  return problems.flatMap((problem) => {
    const [, index, rest = ''] = /^nodes\.(\d+)(.*)$/.exec(problem.path) ?? []
    if (index === undefined) return [problem]
    const node = before.nodes[Number(index)]
    const now = after.nodes.findIndex(({ id }) => id === node?.id)
    return now < 0 ? [] : [{ ...problem, path: `nodes.${now}${rest}` }]
  })
}
