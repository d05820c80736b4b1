import { describe, expect, it } from 'vitest'
import { ROOT, type SourceFile, sourcesIn } from './import-graph.ts'

const sources = ['packages', 'apps'].flatMap((folder) =>
  sourcesIn(`${ROOT}/${folder}`).map((file) => ({ ...file, path: `${folder}/${file.path}` })),
)

/** Lines of code that match, with their place. Comments are left out. */
const matches = (files: SourceFile[], pattern: RegExp) =>
  files.flatMap(({ path, text }) =>
    text
      .split('\n')
      .map((line, index) => ({ line, place: `${path}:${index + 1}` }))
      .filter(({ line }) => pattern.test(line) && !/^\s*(\/\/|\*|\/\*)/.test(line))
      .map(({ line, place }) => `${place} ${line.trim()}`),
  )

const STAR = /^export \* from/
const STATE = /^(export )?(let|var) |^(export )?const \w+ = (new (Map|Set|WeakMap|WeakSet|Array)(<.*>)?\(\)|\[\]|\{\})/
const ENVIRONMENT = /process\.env/
const SILENCED = /@ts-(ignore|nocheck|expect-error)|\b(it|test|describe)\.(skip|todo|only)\b/

describe('the source code', () => {
  it('contains no export *', () => expect(matches(sources, STAR)).toEqual([]))

  it('has no mutable state in a module', () => expect(matches(sources, STATE)).toEqual([]))

  it('reads process.env in one place', () => {
    const readers = matches(sources, ENVIRONMENT).map((line) => line.split(':')[0])
    expect([...new Set(readers)]).toEqual(['apps/server/src/config.ts'])
  })

  it('has no silenced check and no skipped test', () => {
    const all = ['packages', 'apps', 'test', 'examples'].flatMap((folder) =>
      sourcesIn(`${ROOT}/${folder}`, { tests: true }),
    )
    expect(
      matches(
        all.filter((file) => file.path !== 'structure/source-rules.test.ts'),
        SILENCED,
      ),
    ).toEqual([])
  })

  it('fails these checks when a violation is planted', () => {
    const planted = [
      {
        path: 'x.ts',
        imports: [],
        text: "export * from './y.ts'\nlet count = 0\nconst seen = new Map()\nconst port = process.env.PORT\nit.only('x')",
      },
    ]
    for (const pattern of [STAR, ENVIRONMENT, SILENCED]) expect(matches(planted, pattern)).toHaveLength(1)
    expect(matches(planted, STATE)).toHaveLength(2)
  })
})
