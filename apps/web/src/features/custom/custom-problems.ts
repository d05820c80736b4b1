/** Maps validation errors of a record to the JSON text or to a tool of the form. */
import type { CodeProblem } from '../../ui/form/code-editor.tsx'
import { asSentence, inText } from '../schema-form/problem-paths.ts'
import { readJson } from '../schema-form/read-json.ts'

export interface FieldProblem {
  path: string
  message: string
}

/** An update prefixes paths with `server`, which the text does not contain. */
export const placed = (errors: readonly FieldProblem[]): FieldProblem[] =>
  errors.map(({ path, message }) => ({ path: path.replace(/^(server|config_json)\./, ''), message }))

/** Problems with text offsets. Name problems are shown at the name field. */
export function inRecordText(text: string, problems: readonly FieldProblem[]): CodeProblem[] {
  const read = readJson(text)
  if (!read.ok) return [{ from: read.at, to: read.at + 1, message: read.message }]
  const ofText = problems.filter(({ path }) => path !== 'name' && path !== 'id')
  return inText(
    ofText.map(({ path, message }) => ({ path: path === '(body)' ? '(root)' : path, message })),
    read.node,
    read.value,
  )
}

/** Problem of one field of a tool, or inside it. */
export function problemOfTool(problems: readonly FieldProblem[], index: number, field: string): string | undefined {
  const own = `tools.${index}.${field}`
  const found = problems.find(({ path }) => path === own || path.startsWith(`${own}.`))
  if (!found) return undefined
  const inside = found.path.slice(own.length + 1)
  return inside === '' ? asSentence(found.message) : `${inside}: ${found.message}`
}

/** Number of problems of a tool. */
export const countOfTool = (problems: readonly FieldProblem[], index: number): number =>
  problems.filter(({ path }) => path === `tools.${index}` || path.startsWith(`tools.${index}.`)).length

/** Problems outside of tools: secrets and the record as a whole. */
export const otherProblems = (problems: readonly FieldProblem[]): FieldProblem[] =>
  problems.filter(({ path }) => !/^tools\.\d/.test(path) && path !== 'name' && path !== 'id')

/** Text offsets from the line and column in an error message. */
export function inCode(code: string, message: string | undefined): CodeProblem[] {
  if (message === undefined) return []
  const [, line, column] = /line (\d+), column (\d+)/.exec(message) ?? []
  const lines = code.split('\n')
  const before = lines.slice(0, Number(line ?? 1) - 1).reduce((sum, previous) => sum + previous.length + 1, 0)
  const from = line === undefined ? 0 : Math.min(before + Number(column) - 1, code.length)
  return [{ from, to: line === undefined ? (lines[0]?.length ?? 0) : from + 1, message }]
}
