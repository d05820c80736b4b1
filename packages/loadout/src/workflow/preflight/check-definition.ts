/** Validates a definition by itself and against the user's toolkits, before it is saved. */
import type { FieldError } from '../../errors.ts'
import { programProblems } from '../definition/check-programs.ts'
import type { Plan } from '../definition/plan.ts'
import { addProblems } from '../definition/problems.ts'
import { invalidDefinition, type Readable, readDefinition } from '../definition/read-definition.ts'
import { argumentProblems, findCheckedTool, missingTool } from './check-tool.ts'
import { createPreflightContext, type PreflightDeps, type Problem } from './context.ts'
import { type Need, needsOf } from './required-tools.ts'

export type DefinitionDeps = Pick<PreflightDeps, 'registry' | 'catalog' | 'storage'>

/** Returns the plan, or throws `invalid-input` with all problems. */
export async function checkDefinition(deps: DefinitionDeps, userId: string, definition: unknown): Promise<Plan> {
  const { plan, problems, readable } = readDefinition(definition)
  const found = [...problems]
  addProblems(found, await programProblems(readable))
  addProblems(found, await toolProblems(deps, userId, readable))
  if (!plan || found.length > 0) throw invalidDefinition(found.map(({ path, message }) => ({ path, message })))
  return plan
}

/** A tool must exist unless its toolkit is inline or its server was never discovered. */
async function toolProblems(deps: DefinitionDeps, userId: string, readable: Readable): Promise<FieldError[]> {
  const { brings } = readable
  const needs = needsOf(readable).filter(({ toolkit }) => !brings.includes(toolkit))
  const context = await createPreflightContext(deps, { userId }, needs)
  const problems: Problem[] = []
  const report = ({ path, ref, planned }: Need, message: string) =>
    problems.push({ path, ref, node: planned.node.id, code: 'invalid-input', message, action: '' })
  for (const need of needs) {
    const stored = context.stored.get(need.toolkit)
    if (!stored) {
      if (need.tool === undefined && /[*?[{]/.test(need.toolkit)) continue
      report(need, `there is no toolkit '${need.toolkit}'; list it in "brings" where each run brings it along`)
    } else if (need.tool !== undefined) {
      const { schema, isUnseen } = findCheckedTool(need, stored, context)
      if (!schema && !isUnseen) report(need, missingTool(need)[1])
      else argumentProblems(need, schema, problems)
    }
  }
  return problems.map(({ path, message, node }) => ({ path, message: `in node '${node}': ${message}` }))
}
