/**
 * Patterns of the OpenAPI document compile without flags in every validator. zod-to-openapi writes a pattern with flags
 * as `source/flags`, which no value matches.
 */

/** `Cc` and the part of `Cf` below U+10000; the server also refuses the characters above it. */
const CLASSES: Readonly<Record<string, string>> = {
  '\\p{Cc}': '\\u0000-\\u001f\\u007f-\\u009f',
  '\\p{Cf}':
    '\\u00ad\\u0600-\\u0605\\u061c\\u06dd\\u070f\\u0890\\u0891\\u08e2\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u2064\\u2066-\\u206f\\ufeff\\ufff9-\\ufffb',
}

/**
 * @example publishedPattern('^[^\\\\p{Cc}]*$/u') // '^[^\\\\u0000-\\\\u001f\\\\u007f-\\\\u009f]*$'
 */
export function publishedPattern(pattern: string): string {
  const [, written, flags = ''] = /^([\s\S]*)\/([dgimsuvy]+)$/.exec(pattern) ?? [undefined, pattern]
  let source = written ?? pattern
  for (const [name, ranges] of Object.entries(CLASSES)) source = source.replaceAll(name, ranges)
  source = source.replaceAll('\\/', '/').replaceAll('\\0', '\\u0000')
  if (flags.includes('s'))
    source = source.replaceAll(/\\.|\[(?:\\.|[^\]])*\]|\./g, (part) => (part === '.' ? '[\\s\\S]' : part))
  if (flags.includes('i'))
    source = source.replaceAll(/\\.|\[(?:\\.|[^\]])*\]|[a-z]/g, (part) =>
      part.length === 1 ? `[${part}${part.toUpperCase()}]` : part,
    )
  return source
}

/** Returns the document with every `pattern` published. */
export function withPublishedPatterns<T>(value: T): T {
  if (Array.isArray(value)) return value.map(withPublishedPatterns) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      key === 'pattern' && typeof item === 'string' ? publishedPattern(item) : withPublishedPatterns(item),
    ]),
  ) as T
}
