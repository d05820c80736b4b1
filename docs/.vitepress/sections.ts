/** The sections of the site, in order. A page that no list names comes after the others, by its title. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export type SidebarItem = { text: string; link?: string; items?: SidebarItem[]; collapsed?: boolean }
type Section = { dir: string; title: string; first?: readonly string[]; groups?: readonly Section[]; hidden?: boolean }

export const SECTIONS: readonly Section[] = [
  {
    dir: 'get-started',
    title: 'Get started',
    first: ['index', 'quickstart-local', 'quickstart-nextjs', 'quickstart-postgres', 'install'],
  },
  { dir: 'tutorials', title: 'Tutorials', first: ['bring-your-own-servers', 'approvals', 'workflow'] },
  {
    dir: 'guides',
    title: 'Guides',
    groups: [
      {
        dir: 'guides/connect',
        title: 'Connect servers',
        first: ['http-server', 'sign-in', 'local-commands', 'import'],
      },
      { dir: 'guides/tools', title: 'Choose tools', first: ['threads', 'tune-search', 'programs'] },
      { dir: 'guides/calls', title: 'Control calls', first: ['policy-rules', 'approvals', 'limits'] },
      { dir: 'guides/models', title: 'Models and agents', first: ['ai-sdk', 'anthropic', 'openai', 'agents'] },
      { dir: 'guides/integrate', title: 'Integrate', first: ['apps', 'own-users', 'browser'] },
      { dir: 'guides/migrate', title: 'Migrate' },
    ],
  },
  {
    dir: 'operate',
    title: 'Deploy and operate',
    first: ['index', 'postgresql', 'users', 'reverse-proxy', 'keys', 'backup', 'scaling', 'monitoring'],
  },
  {
    dir: 'user-guide',
    title: 'User guide',
    first: ['index', 'sign-in', 'approvals', 'tools', 'threads', 'workflows'],
  },
  {
    dir: 'concepts',
    title: 'Concepts',
    first: ['architecture', 'toolkits', 'loadouts', 'search', 'policy', 'runs', 'tenancy', 'security'],
  },
  {
    dir: 'reference',
    title: 'Reference',
    first: ['configuration', 'cli', 'http-api', 'library', 'errors', 'events', 'metrics', 'limits'],
    groups: [{ dir: 'reference/errors', title: 'Error codes', first: ['index'] }],
  },
  { dir: 'about', title: 'About', first: ['comparison', 'benchmarks', 'benchmark-results', 'compatibility'] },
]

/** The text of a page's first heading, without Markdown marks. */
export function pageTitle(file: string): string {
  const [, title = ''] = /^# (.+)$/m.exec(readFileSync(file, 'utf8')) ?? []
  return title.replaceAll('`', '')
}

function pagesOf(root: string, { dir, first = [] }: Section): SidebarItem[] {
  const folder = join(root, dir)
  if (!existsSync(folder)) return []
  const rank = (name: string) => (first.includes(name) ? first.indexOf(name) : first.length)
  return readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => name.slice(0, -3))
    .map((name) => ({ name, text: pageTitle(join(folder, `${name}.md`)) }))
    .sort((a, b) => rank(a.name) - rank(b.name) || a.text.localeCompare(b.text))
    .map(({ name, text }) => ({ text, link: name === 'index' ? `/${dir}/` : `/${dir}/${name}` }))
}

/** The sidebar of the whole site: one entry for each page. */
export function sidebar(root: string): SidebarItem[] {
  const build = (section: Section, isOpen: boolean): SidebarItem[] => {
    const groups = (section.groups ?? []).flatMap((group) => build(group, false))
    const items = pagesOf(root, section).concat(groups)
    return items.length > 0 ? [{ text: section.title, items, collapsed: !isOpen }] : []
  }
  return SECTIONS.flatMap((section) => build(section, section.dir === 'get-started'))
}
