/** Examples are programs: what the docs show is what runs. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT, start } from './run-process.ts'

const EXAMPLES = join(ROOT, 'examples')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const stories = readdirSync(EXAMPLES, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== 'node_modules')
  .map((entry) => entry.name)

const isPage = (story: string) => existsSync(join(EXAMPLES, story, 'index.html'))

describe('examples', () => {
  for (const story of stories.filter(isPage))
    it(`${story} is a page, and has a test that runs it in a browser`, () => {
      expect(read(`examples/${story}/main.browser.test.ts`)).toContain(`/examples/${story}/index.html`)
    })

  for (const story of stories.filter((name) => !isPage(name)))
    it(`${story} checks itself`, async () => {
      const program = start([`examples/${story}/main.ts`])
      expect(await program.ended, program.stderr()).toBe(0)
    })
})

describe('README', () => {
  const readme = read('README.md')
  const example = /```ts\n(.*?)```/s.exec(readme)?.[1] ?? ''

  it('shows the example that runs, in at most 25 lines of code', () => {
    expect(example).toBe(read('examples/readme/main.ts'))
    expect(
      example.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('//')).length,
    ).toBeLessThanOrEqual(25)
  })

  it('has the two commands, and CI runs the second', () => {
    expect(readme).toContain('npm install && npm start')
    expect(readme).toContain('npm install && npm test')
    expect(read('.ci/run')).toContain('npm install && npm test')
  })

  it('links to files that are there', () => {
    for (const page of [
      'README.md',
      'ARCHITECTURE.md',
      'CONTRIBUTING.md',
      ...readdirSync(join(ROOT, 'docs'))
        .filter((name) => name.endsWith('.md'))
        .map((name) => `docs/${name}`),
    ])
      for (const [, link = ''] of read(page).matchAll(/\]\((?!https?:|#)([^)#]+)/g))
        expect(() => read(join(page, '..', link)), `${page} → ${link}`).not.toThrow()
  })
})

describe('every piece of TypeScript in the docs', () => {
  const pages = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'))
  for (const page of pages)
    it(`docs/${page} shows what an example runs`, () => {
      const text = read(`docs/${page}`)
      const fences = [...text.matchAll(/(?:<!-- example: (\S+) -->\n)?```ts\n(.*?)```/gs)]
      for (const [, story, code] of fences) {
        const source = read(`examples/${story}/main.ts`)
        expect(code).toBe(/\/\/#region example\n(.*?)\/\/#endregion/s.exec(source)?.[1])
      }
    })
})

describe('docs/configuration.md', () => {
  it('names every setting', () => {
    const names = [...read('apps/server/src/config.ts').matchAll(/^ {2}([A-Z][A-Z_]+):/gm)].map(
      (match) => match[1] as string,
    )
    expect(names.length).toBeGreaterThan(10)
    for (const name of names) expect(read('docs/configuration.md')).toContain(`\`${name}\``)
  })
})
