/** Parses the programs of a definition before a run, so that syntax errors are reported early. */
import { readProgram } from '../../code-mode/parse/read-program.ts'
import type { Plan } from './plan.ts'

export interface InvalidProgram {
  path: string
  node: string
  message: string
}

export async function programProblems({ nodes }: Pick<Plan, 'nodes'>): Promise<InvalidProgram[]> {
  const problems: InvalidProgram[] = []
  for (const { node, index } of nodes.values()) {
    if (node.type !== 'code') continue
    const read = await readProgram({ source: node.program, language: node.language })
    if (read.ok) continue
    const { message, line } = read.error
    const where = line === undefined ? '' : ` (line ${line})`
    problems.push({
      path: `nodes.${index}.program`,
      node: node.id,
      message: `in node '${node.id}': ${message}${where}`,
    })
  }
  return problems
}
