/** Puts the warnings of a record before the warnings of its tools. */
export function withWarnings<T extends { warnings?: string[] | undefined }>(view: T, record: readonly string[]): T {
  const warnings = [...record, ...(view.warnings ?? [])]
  return warnings.length > 0 ? { ...view, warnings } : view
}
