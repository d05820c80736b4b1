/** Removes invisible characters from server text that a model or a user reads, and reports whether there were any. */

// Controls, format characters (zero width, bidi, tags), private use and unassigned; newline and tab stay.
const HIDDEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Co}\p{Cn}]/gu
const ESCAPE = String.fromCharCode(27)
const ANSI = new RegExp(`${ESCAPE}[[0-9;?]*[ -/]*[@-~]`, 'g')

export interface Cleaned {
  text: string
  /** Whether the text had invisible characters. */
  hidden: boolean
}

export function cleanText(text: string): Cleaned {
  const cleaned = text.replace(ANSI, '').replace(HIDDEN, '')
  return { text: cleaned, hidden: cleaned !== text }
}
