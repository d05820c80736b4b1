/** Summary of a selection for clients: tools, reasons, costs, schema losses and the number of deferred tools. */
import type { LostInTool } from '../ai/schema/form-schema.ts'
import type { JsonObject } from '../schema/json.ts'
import type { SelectionData } from '../schema/toolkit/selection.ts'

const MAX_DROPPED = 50
const MAX_LOST = 100
const MAX_PER_TOOL = 5

export function selectionData(
  selection: SelectionData,
  { warnings, lost }: { warnings: readonly string[]; lost: readonly LostInTool[] },
): JsonObject {
  const { tools, deferred, dropped, unavailable, tokens, strategy, stablePrefix } = selection
  return {
    tools: tools.map(({ entry: { ref, modelName, toolkit }, by, score, reasons, tokens: cost }) => ({
      ref,
      modelName,
      toolkit,
      by,
      reasons,
      tokens: cost,
      ...(score === undefined ? {} : { score }),
    })),
    deferred: deferred.length,
    dropped: dropped.slice(0, MAX_DROPPED),
    unavailable: unavailable.slice(0, MAX_DROPPED),
    tokens,
    strategy,
    stablePrefix,
    warnings: [...selection.warnings, ...warnings],
    ...(lost.length > 0 ? { lost: lost.slice(0, MAX_LOST) as unknown as JsonObject[] } : {}),
  }
}

/** One warning per tool about its schema losses, narrowing ones first. */
export function lossWarnings(lost: readonly LostInTool[]): string[] {
  const byRef = Map.groupBy(lost, ({ ref }) => ref)
  return [...byRef].slice(0, MAX_LOST).map(([ref, losses]) => {
    const ordered = [...losses.filter(({ narrows }) => narrows), ...losses.filter(({ narrows }) => !narrows)]
    const listed = ordered.slice(0, MAX_PER_TOOL).map(({ path, what }) => `${path === '' ? '' : `${path}: `}${what}`)
    const more = losses.length > listed.length ? `; and ${losses.length - listed.length} more` : ''
    const less = ordered[0]?.narrows ? ', which takes less than the tool does' : ''
    return `The model is shown a simpler schema of '${ref}'${less}. Lost: ${listed.join('; ')}${more}.`
  })
}
