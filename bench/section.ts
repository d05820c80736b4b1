/** Sections of `docs/about/benchmark-results.md` that are written by the script that measured them. */
import { readFileSync, writeFileSync } from 'node:fs'

const FILE = new URL('../docs/about/benchmark-results.md', import.meta.url)

export const markdown = (lines: readonly string[][]): string =>
  lines
    .flatMap((line, index) => [
      `| ${line.join(' | ')} |`,
      ...(index === 0 ? [`| ${line.map(() => '---').join(' | ')} |`] : []),
    ])
    .join('\n')

/** Puts it in the place of what it wrote before, or at the end. */
export function writeSection(name: string, text: string): void {
  const [start, end] = [`<!-- ${name}: written by \`npm run bench:${name}\` -->`, `<!-- ${name}: end -->`]
  const before = readFileSync(FILE, 'utf8')
  const section = `${start}\n\n${text.trim()}\n\n${end}`
  const from = before.indexOf(start)
  const to = before.indexOf(end)
  const after =
    from >= 0 && to > from
      ? before.slice(0, from) + section + before.slice(to + end.length)
      : `${before.trim()}\n\n${section}\n`
  writeFileSync(FILE, after)
}
