/** Text of a server that a model or a person will read: what cannot be seen is taken out, and that is told. */

// Controls, format characters (zero width, bidi, tags), private use and unassigned; newline and tab are honest.
const HIDDEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Co}\p{Cn}]/gu
const ESCAPE = String.fromCharCode(27)
const ANSI = new RegExp(`${ESCAPE}[[0-9;?]*[ -/]*[@-~]`, 'g')

export interface Cleaned {
  text: string
  /** Whether something was hidden in it. */
  hidden: boolean
}

export function cleanText(text: string): Cleaned {
  const cleaned = text.replace(ANSI, '').replace(HIDDEN, '')
  return { text: cleaned, hidden: cleaned !== text }
}
