/** A field holds a value, or an expression as `{{ … }}`. In other text an expression is inserted. */

const ALONE = /^\s*\{\{([\s\S]*)\}\}\s*$/

/** The expression that is all of a value; undefined where it is something else. */
export function expressionIn(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const inner = ALONE.exec(value)?.[1]
  return inner === undefined || inner.includes('{{') || inner.includes('}}') ? undefined : inner.trim()
}

export const asExpression = (text: string): string => `{{ ${text.trim()} }}`

/** At the cursor: bare where the whole field is an expression, in braces where it is text. */
export function inserted(text: string, expression: string, at: { from: number; to: number }): string {
  return `${text.slice(0, at.from)}${expression}${text.slice(at.to)}`
}
