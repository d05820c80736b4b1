/** A toolkit with the warnings of its record before those of its tools. */
export function withWarnings<T extends { warnings?: string[] | undefined }>(view: T, record: readonly string[]): T {
  const warnings = [...record, ...(view.warnings ?? [])]
  return warnings.length > 0 ? { ...view, warnings } : view
}
