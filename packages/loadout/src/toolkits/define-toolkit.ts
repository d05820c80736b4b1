import type { ToolkitRecord } from '../schema/toolkit/toolkit.ts'

/** Returns its argument, with the record type checked and inferred. */
export function defineToolkit<const T extends Omit<ToolkitRecord, 'name'> & { name?: string }>(toolkit: T): T {
  return toolkit
}
