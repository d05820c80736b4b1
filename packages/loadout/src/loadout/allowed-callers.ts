import type { AllowedCaller } from '../schema/tool.ts'
import type { Toolkit } from '../schema/toolkit.ts'

/** Who may call one tool of a toolkit: the record's word on the tool, else the tool's own definition, else the whole toolkit's. */
export function callersOf(
  { overrides, server, allowedCallers }: Pick<Toolkit, 'overrides' | 'server' | 'allowedCallers'>,
  name: string,
): AllowedCaller[] {
  const override = Object.hasOwn(overrides, name) ? overrides[name] : undefined
  const defined = server.type === 'custom' ? server.tools.find((tool) => tool.name === name) : undefined
  return override?.allowedCallers ?? defined?.allowedCallers ?? allowedCallers
}
