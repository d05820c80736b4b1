import type { ToolkitInput } from '../schema/toolkit/toolkit.ts'

/** Returns its argument; exists so that the record is checked and inferred where it is written. */
export function defineToolkit<const T extends Omit<ToolkitInput, 'name'> & { name?: string }>(toolkit: T): T {
  return toolkit
}
