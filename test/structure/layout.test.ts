import { describe, expect, it } from 'vitest'
import {
  DENIED_WORDS,
  deniedNames,
  duplicateExports,
  filesByFolder,
  shapeOf,
  sharedPrefixes,
  wordsOf,
} from './code-shape.ts'
import { ROOT, sourcesIn } from './import-graph.ts'
import {
  ALLOWED_NAMES,
  MAX_FILES_PER_FOLDER,
  MAX_FILES_PER_PREFIX,
  PREFIX_EXEMPT,
  SAME_NAME_EXEMPT,
} from './layout-rules.ts'

const PACKAGES = ['packages/loadout/src', 'apps/server/src', 'apps/web/src', 'apps/cli/src']
const byPackage = new Map(
  PACKAGES.map((folder) => [
    folder,
    sourcesIn(`${ROOT}/${folder}`).map((file) => shapeOf({ ...file, path: `${folder}/${file.path}` })),
  ]),
)
const shapes = [...byPackage.values()].flat()
/** All code, with tests, scripts and benchmarks. */
const allShapes = ['packages', 'apps', 'test', 'scripts', 'bench', 'examples'].flatMap((folder) =>
  sourcesIn(`${ROOT}/${folder}`, { tests: true }).map((file) => shapeOf({ ...file, path: `${folder}/${file.path}` })),
)
const planted = (text: string, path = 'x.ts') => shapeOf({ path, text })

describe('the source tree', () => {
  it(`has at most ${MAX_FILES_PER_FOLDER} source files in a folder`, () => {
    const large = [...filesByFolder(shapes.map(({ path }) => path))].filter(
      ([, files]) => files.length > MAX_FILES_PER_FOLDER,
    )
    expect(large.map(([folder, files]) => `${folder}: ${files.length}`)).toEqual([])
    const many = Array.from({ length: 21 }, (_, index) => `a/f${index}.ts`)
    expect(filesByFolder(many).get('a')).toHaveLength(21)
  })

  it(`has no file-name prefix on more than ${MAX_FILES_PER_PREFIX} files of a folder in the library and the server`, () => {
    const paths = shapes.map(({ path }) => path).filter((path) => !path.startsWith('apps/web/'))
    const found = [...filesByFolder(paths)].flatMap(([folder, files]) =>
      PREFIX_EXEMPT.has(folder)
        ? []
        : sharedPrefixes(files, MAX_FILES_PER_PREFIX).map((prefix) => `${folder}/${prefix}-*`),
    )
    expect(found).toEqual([])
    expect(sharedPrefixes(['a/run-a.ts', 'a/run-b.ts', 'a/run-c.ts', 'a/run-d.ts', 'a/go.ts'], 3)).toEqual(['run'])
  })

  it('spreads no literal into a literal', () => {
    expect(shapes.flatMap(({ path, literalSpreads }) => literalSpreads.map((line) => `${path}:${line}`))).toEqual([])
    expect(planted('const a = { ...{ b: 1 } }\nconst c = [...[1, 2], ...d]\nf(...[1])').literalSpreads).toEqual([
      1, 2, 3,
    ])
  })

  it('finds a literal that is spread into attributes', () => {
    expect(planted('const a = <B {...{ c }} {...d} />', 'x.tsx').literalSpreads).toEqual([1])
  })

  it('gives each exported name to one thing in a package', () => {
    for (const [folder, files] of byPackage) {
      const twice = [...duplicateExports(files)].filter(([name]) => !SAME_NAME_EXEMPT.has(name))
      expect(
        twice.map(([name, paths]) => `${name}: ${paths.join(', ')}`),
        folder,
      ).toEqual([])
    }
    const files = ['a.ts', 'b.ts'].map((path) => planted('export const keyOf = 1', path))
    expect([...duplicateExports(files).keys()]).toEqual(['keyOf'])
  })

  it('has no name with a word of the deny list', () => {
    expect(allShapes.flatMap((shape) => deniedNames(shape, ALLOWED_NAMES))).toEqual([])
    const code = 'const { keptRows, a: { told } } = b\ninterface SignInDoor { heard: string }\nfunction of(given: x) {}'
    expect(deniedNames(planted(code), new Set()).map((line) => line.split(' ')[1])).toEqual([
      'keptRows',
      'told',
      'SignInDoor',
      'heard',
      'given',
    ])
  })

  it('has no file or folder name with a word of the deny list', () => {
    const denied = allShapes.filter(({ path }) =>
      path
        .split(/[/.]/)
        .flatMap(wordsOf)
        .some((word) => DENIED_WORDS.has(word)),
    )
    expect(denied.map(({ path }) => path)).toEqual([])
  })
})
