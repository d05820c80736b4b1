import type { ToolkitRecord } from '../schema/toolkit/toolkit.ts'

/** Returns its argument; exists so that the record is checked and inferred where it is written. */
export function defineToolkit<const T extends Omit<ToolkitRecord, 'name'> & { name?: string }>(toolkit: T): T {
  return toolkit
}
