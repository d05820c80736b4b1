/** Findings in one text. Every function takes linear time: no pattern backtracks, and each reads the text once. */
import { foldText, mixedWord, scanWords, type Words } from './normalize.ts'
import { compilePhrases } from './phrases.ts'
import {
  LITERAL_RULES,
  PHRASE_RULES,
  READ_VERBS,
  type ScanRule,
  SECRET_FILES,
  STRUCTURE_RULES,
  type StructureRuleId,
} from './rules.ts'

export interface TextFinding extends ScanRule {
  excerpt: string
}

const phrases = compilePhrases(PHRASE_RULES)
const EXCERPT = 160

export const structureFinding = (id: StructureRuleId, excerpt: string): TextFinding => ({
  id,
  severity: STRUCTURE_RULES[id].severity,
  why: STRUCTURE_RULES[id].why,
  excerpt: visible(excerpt),
})

/** One line without invisible characters; their code points are shown instead. */
export function visible(text: string): string {
  const shown = text
    .slice(0, EXCERPT * 2)
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}]/gu, (sign) =>
      /\s/.test(sign) ? ' ' : `[U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`,
    )
    .replace(/\s+/g, ' ')
    .trim()
  return shown.length > EXCERPT ? `${shown.slice(0, EXCERPT).toWellFormed()}…` : shown
}

/** All findings in a text, also in what it encodes or hides. */
export function detectInText(text: string, depth = 0): TextFinding[] {
  const folded = foldText(text)
  const words = scanWords(folded)
  return [
    ...inWords(words, folded),
    ...LITERAL_RULES.flatMap(({ literals, ...rule }) => {
      const literal = literals.find((one) => folded.includes(one))
      return literal === undefined ? [] : [{ ...rule, excerpt: around(folded, folded.indexOf(literal)) }]
    }),
    ...secretFiles(folded),
    ...placeholderUrls(text),
    ...hiddenText(text, depth),
    ...encodedText(text, depth),
  ]
}

function inWords(words: Words, folded: string): TextFinding[] {
  return phrases.find(words).map(({ rule: { phrases: _, ...rule }, from, to }) => ({
    ...rule,
    excerpt: visible(folded.slice(words.at[from], (words.at[to] ?? 0) + (words.words[to]?.length ?? 0) + 20)),
  }))
}

const around = (text: string, at: number) => visible(text.slice(Math.max(0, at - 60), at + 100))

/** A verb of reading at most six words before the file makes it an instruction. */
function secretFiles(folded: string): TextFinding[] {
  const file = SECRET_FILES.find((one) => folded.includes(one))
  if (file === undefined) return []
  for (const one of SECRET_FILES) {
    let at = folded.indexOf(one)
    for (let count = 0; at >= 0 && count < 20; count += 1) {
      const before = folded.slice(Math.max(0, at - 60), at)
      const isExample = /(?:e\.g|i\.e|example|default|such as|path)[^.]{0,40}$/.test(before)
      const isAsked = scanWords(before)
        .words.slice(-6)
        .some((word) => READ_VERBS.has(word))
      if (isAsked && !isExample) return [structureFinding('secret-file', around(folded, at))]
      at = folded.indexOf(one, at + one.length)
    }
  }
  return [structureFinding('secret-file-named', around(folded, folded.indexOf(file)))]
}

const URL = /https?:\/\/[^\s"'`)\]]{1,500}/g
const PLACEHOLDER =
  /[?&=/][^?&=]{0,40}(?:\{|<|\[|%7b|\$)[a-z _.-]{0,30}(?:data|content|contents|secret|secrets|conversation|history|context|password|credentials|cookie|cookies|env|message|messages|prompt|output|memory|file|files|base64)[a-z _.-]{0,30}(?:\}|>|\]|%7d)/i

function placeholderUrls(text: string): TextFinding[] {
  if (!text.includes('://')) return []
  for (const [url] of text.matchAll(URL))
    if (url.includes('?') && PLACEHOLDER.test(url)) return [structureFinding('url-placeholder', url)]
  return []
}

const TAGS = /[\u{e0020}-\u{e007e}]{2,}/u
const BIDI = /[\u202a-\u202e\u2066-\u2069]/
const ZERO_WIDTH = /[\u200b\u2060-\u2064\ufeff]/g
const COMMENT_OPEN = '<!--'
const BLANK = /(?:\s|\u2800|\u3164){200}/

function hiddenText(text: string, depth: number): TextFinding[] {
  const found: TextFinding[] = []
  const tags = TAGS.exec(text)
  if (tags) {
    const said = Array.from(tags[0], (sign) => String.fromCodePoint((sign.codePointAt(0) ?? 0) - 0xe0000)).join('')
    found.push(structureFinding('hidden-tags', said))
  }
  const bidi = BIDI.exec(text)
  if (bidi) found.push(structureFinding('hidden-bidi', text.slice(Math.max(0, bidi.index - 20), bidi.index + 60)))
  if ((text.match(ZERO_WIDTH)?.length ?? 0) >= 3)
    found.push(
      structureFinding('hidden-zero-width', text.slice(Math.max(0, text.search(ZERO_WIDTH) - 20)).slice(0, 80)),
    )
  const open = text.indexOf(COMMENT_OPEN)
  if (open >= 0 && depth === 0) {
    const close = text.indexOf('-->', open)
    const comment = text.slice(open + COMMENT_OPEN.length, close < 0 ? undefined : close).trim()
    if (comment.split(/\s+/, 4).length >= 3) found.push(structureFinding('hidden-comment', comment))
  }
  const blank = BLANK.exec(text)
  if (blank && text.slice(blank.index).trim() !== '')
    found.push(structureFinding('hidden-space', text.slice(blank.index).trim()))
  const mixed = mixedWord(text)
  if (mixed !== undefined) found.push(structureFinding('look-alike-text', mixed))
  return found
}

const BASE64 = /[A-Za-z0-9+/_-]{32,}={0,2}/g
const MAX_BLOBS = 20

/** Encoded text is an instruction as much as plain text: its own findings count. */
function encodedText(text: string, depth: number): TextFinding[] {
  if (depth > 1 || text.length < 32) return []
  let blobs = 0
  for (const [blob] of text.matchAll(BASE64)) {
    blobs += 1
    if (blobs > MAX_BLOBS) break
    const decoded = decodeText(blob)
    if (decoded === undefined) continue
    const inside = detectInText(decoded, depth + 1).filter(({ severity }) => severity !== 'low')
    return [structureFinding('encoded-text', decoded), ...inside]
  }
  return []
}

const READABLE = /^[\p{L}\p{N}\p{P}\p{S}\s]+$/u

function decodeText(blob: string): string | undefined {
  try {
    const bytes = atob(blob.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '').slice(0, 8192))
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(bytes, (sign) => sign.charCodeAt(0)))
    return READABLE.test(text) && text.trim().split(/\s+/, 5).length >= 4 ? text : undefined
  } catch {
    return undefined
  }
}
