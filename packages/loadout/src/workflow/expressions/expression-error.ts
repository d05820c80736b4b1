/**
 * Error in an expression with its position. Stays inside this folder: callers convert it to a field error or a node
 * error.
 */
export class ExpressionFault extends Error {
  /** Character offset from 0. */
  readonly at: number | undefined

  constructor(message: string, at?: number) {
    super(message)
    this.name = 'ExpressionFault'
    this.at = at
  }

  /** Adds a position if there is none. */
  atPosition(at: number): ExpressionFault {
    return this.at === undefined ? new ExpressionFault(this.message, at) : this
  }
}

const MAX_EXCERPT_LENGTH = 60

/** Formats the message with an excerpt of the text at its position. */
export function faultText({ message, at }: ExpressionFault, text: string): string {
  if (at === undefined || at >= text.length) return message
  const rest = text.slice(at, at + MAX_EXCERPT_LENGTH)
  return `${message} (character ${at + 1}: ${rest}${at + MAX_EXCERPT_LENGTH < text.length ? '…' : ''})`
}
