/** Examples are programs: what the docs show is what runs. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { APPS } from './packages/apps.ts'
import { ROOT, start } from './run-process.ts'

const EXAMPLES = join(ROOT, 'examples')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const stories = readdirSync(EXAMPLES, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== 'node_modules')
  .map((entry) => entry.name)

/** Apps with their own packages, which `test/packages` installs and drives. */
const isApp = (story: string) => existsSync(join(EXAMPLES, story, 'package.json'))
const isPage = (story: string) => existsSync(join(EXAMPLES, story, 'index.html'))

describe('examples', () => {
  for (const story of stories.filter(isPage))
    it(`${story} is a page with a test that runs it in a browser`, () => {
      expect(read(`examples/${story}/main.browser.test.ts`)).toContain(`/examples/${story}/index.html`)
    })

  it('with their own packages are installed and driven by the test of the packages', () => {
    expect(stories.filter(isApp).sort()).toEqual([...APPS].sort())
  })

  for (const story of stories.filter((name) => !isPage(name) && !isApp(name)))
    it(`${story} runs without an error`, async () => {
      const program = start([`examples/${story}/main.ts`])
      expect(await program.ended, program.stderr()).toBe(0)
    })
})

describe('README', () => {
  const readme = read('README.md')
  const example = /```ts\n(.*?)```/s.exec(readme)?.[1] ?? ''

  it('shows the tested example in at most 25 lines of code', () => {
    expect(example).toBe(read('examples/readme/main.ts'))
    expect(
      example.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('//')).length,
    ).toBeLessThanOrEqual(25)
  })

  it('shows a tool call with its approval', () => {
    expect(example).toMatch(/\.call\('app\.\w+'/)
    expect(example).toContain('.approvals.allow(')
    expect(readme).toContain('npm i @loadout/core')
  })

  it('contains the start and test commands, and CI runs the test command', () => {
    expect(readme).toContain('npm install && npm start')
    expect(readme).toContain('npm install && npm test')
    expect(read('.ci/run')).toContain('npm install && npm test')
  })
})

describe('tables of findings', () => {
  it.each(['adoption', 'real-servers'])('test/%s.md names only existing tests', (name) => {
    const paths = [...read(`test/${name}.md`).matchAll(/`([\w./-]+\.test\.ts)`/g)].map(([, path = '']) => path)
    expect(paths.length).toBeGreaterThan(10)
    const exists = (path: string) => existsSync(join(ROOT, path)) || existsSync(join(ROOT, 'packages/loadout', path))
    expect(paths.filter((path) => !exists(path))).toEqual([])
  })

  it('test/adoption.md has every finding from F1 to F20', () => {
    const findings = [...read('test/adoption.md').matchAll(/^\| (F\d+) /gm)].map(([, finding]) => finding)
    expect(findings).toEqual(Array.from({ length: 20 }, (_, at) => `F${at + 1}`))
  })
})
