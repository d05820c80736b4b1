/** Takes a program out of the Markdown that models put around it. Lines that go become empty, so that the others keep their number. */

export type Fenced =
  | { form: 'none' }
  /** The text begins with the fence: all of it is the block. */
  | { form: 'whole'; text: string }
  /** There is one block among words. */
  | { form: 'among words'; text: string }
  | { form: 'several'; line: number }
  /** A block of another language. */
  | { form: 'foreign'; language: string; line: number }

const FENCE = /^[ \t]*(?:`{3,}|~{3,})[ \t]*([\w+#-]*)[^`~]*$/
const ONE_LINE = /^\s*```(?:(?:js|javascript|ts|typescript)\s)?([^\n\r]*)```\s*$/
const OURS = [
  '',
  'js',
  'javascript',
  'mjs',
  'cjs',
  'jsx',
  'ts',
  'typescript',
  'mts',
  'cts',
  'tsx',
  'node',
  'code',
  'tool_code',
]

export function unfence(source: string): Fenced {
  if (!source.includes('```') && !source.includes('~~~')) return { form: 'none' }
  const line = ONE_LINE.exec(source)?.[1]
  if (line !== undefined) return { form: 'whole', text: line }
  const lines = source.split('\n')
  const fences = lines.flatMap((line, index) => {
    const language = FENCE.exec(line.replace(/\r$/, ''))?.[1]
    return language === undefined ? [] : [{ index, language: language.toLowerCase() }]
  })
  const [open, second] = fences
  if (!open) return { form: 'none' }
  const filled = lines.flatMap((line, index) => (line.trim() === '' ? [] : [index]))
  const isWhole = filled[0] === open.index
  if (!OURS.includes(open.language))
    return isWhole ? { form: 'foreign', language: open.language.slice(0, 30), line: open.index + 1 } : { form: 'none' }
  // A block that is the whole text ends with its last fence: those between are its own, in a comment.
  const endsSo = fences.length > 1 && fences.at(-1)?.index === filled.at(-1)
  if (fences.length > 2 && !(isWhole && endsSo)) return { form: 'several', line: (fences[2]?.index ?? 0) + 1 }
  const close = (isWhole && endsSo ? fences.at(-1) : second)?.index ?? lines.length
  const text = lines.map((line, index) => (index > open.index && index < close ? line : '')).join('\n')
  return isWhole ? { form: 'whole', text } : { form: 'among words', text }
}
