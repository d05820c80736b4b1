/** Reads program JSON on the host with the checks of `parseJson`; most texts pass without a full traversal. */

import { type Json, parseJson } from '../../schema/json.ts'
import { CLOSE_ARRAY, CLOSE_OBJECT, endOfString, OPEN_ARRAY, OPEN_OBJECT, QUOTE } from './json-values.ts'

const DEPTH = 60

export function readJson(text: string): Json {
  // Rejected keys and characters always contain one of these texts.
  if (text.includes('__proto__') || text.includes('\\u') || !isShallow(text)) return parseJson(text)
  return JSON.parse(text)
}

function isShallow(text: string): boolean {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at + 1)
    else if (code === OPEN_ARRAY || code === OPEN_OBJECT) {
      if (++depth > DEPTH) return false
    } else if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) depth--
  }
  return text.isWellFormed()
}
