/** What is wrong with an expression, and where in its text. Never leaves this folder: it becomes a field error or a node's. */
export class ExpressionFault extends Error {
  /** Where it begins, in characters from 0. */
  readonly at: number | undefined

  constructor(message: string, at?: number) {
    super(message)
    this.name = 'ExpressionFault'
    this.at = at
  }

  /** The same, where no place was known. */
  atPosition(at: number): ExpressionFault {
    return this.at === undefined ? new ExpressionFault(this.message, at) : this
  }
}

const MAX_EXCERPT_LENGTH = 60

/** The fault as people read it: what, and the text from there on. */
export function faultText({ message, at }: ExpressionFault, text: string): string {
  if (at === undefined || at >= text.length) return message
  const rest = text.slice(at, at + MAX_EXCERPT_LENGTH)
  return `${message} (character ${at + 1}: ${rest}${at + MAX_EXCERPT_LENGTH < text.length ? '…' : ''})`
}
