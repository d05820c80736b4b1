/** What is wrong with a definition, by itself and by what this user has: all of it, before it is saved or run. */
import { readProgram } from '../code-mode/program.ts'
import type { FieldError } from '../errors.ts'
import { argumentProblems, lookUp, missingTool } from './check-tool.ts'
import { type Need, needsOf } from './needs.ts'
import type { Plan } from './plan.ts'
import { invalidDefinition, readDefinition } from './read-definition.ts'
import { type PreflightParts, type Problem, surroundingsOf } from './surroundings.ts'

export type DefinitionParts = Pick<PreflightParts, 'registry' | 'catalog' | 'storage'>

/** The plan, or `invalid-input` with every problem. */
export async function checkDefinition(parts: DefinitionParts, userId: string, definition: unknown): Promise<Plan> {
  const { plan, problems } = readDefinition(definition)
  if (!plan) throw invalidDefinition(problems)
  const found = [...(await programProblems(plan)), ...(await toolProblems(parts, userId, plan))]
  if (found.length > 0) throw invalidDefinition(found)
  return plan
}

async function programProblems({ nodes }: Plan): Promise<FieldError[]> {
  const problems: FieldError[] = []
  for (const { node, index } of nodes.values()) {
    if (node.type !== 'code') continue
    const read = await readProgram({ source: node.program, language: node.language })
    if (read.ok) continue
    const { message, line } = read.error
    const where = line === undefined ? '' : ` (line ${line})`
    problems.push({ path: `nodes.${index}.program`, message: `in node '${node.id}': ${message}${where}` })
  }
  return problems
}

/** A tool must be there, unless whoever runs it brings it along, or nobody looked at its server yet. */
async function toolProblems(parts: DefinitionParts, userId: string, plan: Plan): Promise<FieldError[]> {
  const { brings } = plan.definition
  const needs = needsOf(plan).filter(({ toolkit }) => !brings.includes(toolkit))
  const around = await surroundingsOf(parts, { userId }, needs)
  const problems: Problem[] = []
  const tell = ({ path, ref, planned }: Need, message: string) =>
    problems.push({ path, ref, node: planned.node.id, code: 'invalid-input', message, action: '' })
  for (const need of needs) {
    const stored = around.stored.get(need.toolkit)
    if (!stored) {
      if (need.tool === undefined && /[*?[{]/.test(need.toolkit)) continue
      tell(need, `there is no toolkit '${need.toolkit}'; list it in "brings" where each run brings it along`)
    } else if (need.tool !== undefined) {
      const { schema, isUnseen } = lookUp(need, stored, around)
      if (!schema && !isUnseen) tell(need, missingTool(need)[1])
      else argumentProblems(need, schema, problems)
    }
  }
  return problems.map(({ path, message, node }) => ({ path, message: `in node '${node}': ${message}` }))
}
