import { existsSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type SidebarItem, sidebar } from '../../docs/.vitepress/sections.ts'
import { ROOT } from '../run-process.ts'
import { anchorsOf, linksOf, PAGES, prose, read } from './pages.ts'

const PROSE = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', 'CODE_OF_CONDUCT.md']
const documents = [...PROSE.filter((path) => existsSync(join(ROOT, path))), ...PAGES]

/** The file that a link of a page leads to: absolute links and links without an extension are those of the site. */
function targetOf(page: string, path: string): string {
  if (path === '') return page
  const file = path.startsWith('/') ? `docs${path}` : normalize(join(dirname(page), path))
  const options = [file, `${file}.md`, join(file, 'index.md')]
  return options.find((option) => existsSync(join(ROOT, option)) && statSync(join(ROOT, option)).isFile()) ?? file
}

describe('links of the documentation', () => {
  it.each(documents)('%s links only to existing files and headings', (page) => {
    const dead = linksOf(read(page)).filter((link) => {
      const [path = '', anchor] = link.split('#')
      const target = targetOf(page, path)
      if (!existsSync(join(ROOT, target))) return true
      return anchor !== undefined && target.endsWith('.md') && !anchorsOf(read(target)).has(anchor)
    })
    expect(dead).toEqual([])
  })
})

describe('the sidebar', () => {
  const links = (items: readonly SidebarItem[]): string[] =>
    items.flatMap(({ link, items: nested = [] }) => [...(link ? [link] : []), ...links(nested)])

  it('lists every page of the site once, with a title', () => {
    const listed = links(sidebar(join(ROOT, 'docs')))
    const pages = PAGES.filter((page) => page !== 'docs/index.md').map((page) =>
      page.slice('docs'.length, -'.md'.length).replace(/\/index$/, '/'),
    )
    expect([...listed].sort()).toEqual([...pages].sort())
  })

  it.each(PAGES.filter((page) => page !== 'docs/index.md'))('%s has one title', (page) => {
    expect([...prose(read(page)).matchAll(/^# .+$/gm)]).toHaveLength(1)
  })
})

describe('code in the documentation', () => {
  it.each(PAGES)('%s includes its TypeScript from a tested example', (page) => {
    const text = read(page)
    expect([...text.matchAll(/^ *```(?:ts|typescript|tsx|js|javascript)\b/gm)]).toEqual([])
    for (const [, path = '', region] of text.matchAll(/^<<< @\/\.\.\/([^#{\s]+)(?:#(\w[\w-]*))?/gm)) {
      expect(path).toMatch(/^(examples|packages\/loadout\/test)\//)
      const source = read(path)
      if (region !== undefined) expect(source).toMatch(new RegExp(`#region ${region}\\n.*#endregion`, 's'))
    }
  })
})

describe('docs/reference/configuration.md', () => {
  it('names every setting', () => {
    const names = [...read('apps/server/src/config.ts').matchAll(/^ {2}([A-Z][A-Z_]+):/gm)].map(
      (match) => match[1] as string,
    )
    expect(names.length).toBeGreaterThan(10)
    for (const name of names) expect(read('docs/reference/configuration.md')).toContain(`\`${name}\``)
  })
})
