/** Reads the pages of the documentation as the site and as a Markdown viewer see them. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../run-process.ts'

export const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

/** Paths of all pages of the site, relative to the repository. */
export const PAGES: readonly string[] = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.md') && !path.startsWith('.vitepress'))
  .map((path) => `docs/${path.replaceAll('\\', '/')}`)
  .sort()

/** A page without front matter and code blocks. */
export const prose = (text: string): string =>
  text
    .replace(/^---\n.*?\n---\n/s, '')
    .replaceAll(/^( *)(`{3,})[^\n]*\n.*?^\1\2 *$/gms, '')
    .replaceAll(/^<<<.*$/gm, '')

/** The anchors of a page, as the site and code hosts make them from headings. */
export function anchorsOf(text: string): ReadonlySet<string> {
  const counts = new Map<string, number>()
  const anchors = new Set<string>()
  for (const [, heading = ''] of prose(text).matchAll(/^#{1,6} (.+)$/gm)) {
    const slug = heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(/\s+/g, '-')
    const count = counts.get(slug) ?? 0
    counts.set(slug, count + 1)
    anchors.add(count === 0 ? slug : `${slug}-${count}`)
  }
  return anchors
}

/** The links of a page that lead to a file or an anchor, without those to other hosts. */
export const linksOf = (text: string): string[] =>
  [...prose(text).matchAll(/\]\(((?!https?:|mailto:)[^)\s]+?(?:\[\[[^)]*)?)\)/g)].map(([, link = '']) => link)
