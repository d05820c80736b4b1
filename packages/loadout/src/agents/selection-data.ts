/** What a chat tells of a selection: which tools, why, what they cost, and how many more there are. */
import type { JsonObject } from '../schema/json.ts'
import type { SelectionData } from '../schema/selection.ts'

const MOST_DROPPED = 50

export function selectionData(selection: SelectionData, warnings: readonly string[]): JsonObject {
  const { tools, deferred, dropped, tokens, strategy } = selection
  return {
    tools: tools.map(({ entry: { ref, modelName, toolkit }, by, score, reasons, tokens: cost }) => ({
      ...{ ref, modelName, toolkit, by, reasons, tokens: cost },
      ...(score === undefined ? {} : { score }),
    })),
    deferred: deferred.length,
    dropped: dropped.slice(0, MOST_DROPPED),
    ...{ tokens, strategy },
    warnings: [...selection.warnings, ...warnings],
  }
}
