/** Expressions in values: `{{ … }}` as the whole value or inside text. */

const ALONE = /^\s*\{\{([\s\S]*)\}\}\s*$/

/** The expression if it is the whole value. */
export function expressionIn(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const inner = ALONE.exec(value)?.[1]
  return inner === undefined || inner.includes('{{') || inner.includes('}}') ? undefined : inner.trim()
}

export const asExpression = (text: string): string => `{{ ${text.trim()} }}`

/** Inserts an expression at the cursor. */
export function inserted(text: string, expression: string, at: { from: number; to: number }): string {
  return `${text.slice(0, at.from)}${expression}${text.slice(at.to)}`
}
