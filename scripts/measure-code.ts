/** `npm run measure:code`: the shape of each package beside that of model codebases. */
import {
  DENIED_WORDS,
  deniedNames,
  duplicateExports,
  type FileShape,
  filesByFolder,
  shapeOf,
} from '../test/structure/code-shape.ts'
import { ROOT, sourcesIn } from '../test/structure/import-graph.ts'
import { ALLOWED_NAMES } from '../test/structure/layout-rules.ts'

const PACKAGES = {
  library: 'packages/loadout/src',
  server: 'apps/server/src',
  web: 'apps/web/src',
  cli: 'apps/cli/src',
}
/** Measured once, in the same way, at the commits that STYLE.md names. */
const ANCHORS = [
  ['hono src', 186, '25.7k', '70 / 319 / 2778', '6 / 38 / 201', '16.6 %', '2 / 21', 0],
  ['unstorage src', 47, '6.5k', '126 / 236 / 483', '5 / 23 / 418', '10.3 %', '8 / 33', 0],
  ['kysely src', 303, '44.7k', '53 / 310 / 2971', '6 / 16 / 223', '33.3 %', '4 / 108', 0],
  ['trpc server + client', 120, '14.6k', '80 / 255 / 775', '8 / 46 / 558', '16.1 %', '4 / 11', 0],
  ['ai packages/ai', 311, '38.4k', '39 / 298 / 2941', '7 / 59 / 1586', '18.6 %', '6 / 54', 0],
  ['MCP SDK client', 21, '10.6k', '307 / 1250 / 2629', '6 / 48 / 316', '41.1 %', '6 / 13', 0],
] as const

const at = (sorted: readonly number[], share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? 0
const spread = (values: readonly number[]) => {
  const sorted = values.toSorted((a, b) => a - b)
  return `${at(sorted, 0.5)} / ${at(sorted, 0.9)} / ${at(sorted, 1)}`
}

function rowOf(name: string, shapes: readonly FileShape[]) {
  const lines = shapes.reduce((sum, shape) => sum + shape.lines, 0)
  const folders = [...filesByFolder(shapes.map(({ path }) => path)).values()].map(({ length }) => length)
  const sorted = folders.toSorted((a, b) => a - b)
  return {
    code: name,
    files: shapes.length,
    lines: `${(lines / 1000).toFixed(1)}k`,
    'file p50 / p90 / max': spread(shapes.map((shape) => shape.lines)),
    'function p50 / p90 / max': spread(shapes.flatMap(({ functions }) => functions)),
    comments: `${((shapes.reduce((sum, shape) => sum + shape.commentLines, 0) / lines) * 100).toFixed(1)} %`,
    'per folder p50 / max': `${at(sorted, 0.5)} / ${at(sorted, 1)}`,
    'literal spreads': shapes.reduce((sum, { literalSpreads }) => sum + literalSpreads.length, 0),
    'folders > 20': folders.filter((count) => count > 20).length,
    'duplicate exports': duplicateExports(shapes).size,
    'denied names': shapes.flatMap((shape) => deniedNames(shape, ALLOWED_NAMES)).length,
  }
}

const measured = Object.entries(PACKAGES).map(([name, folder]) =>
  rowOf(
    name,
    sourcesIn(`${ROOT}/${folder}`).map((file) => shapeOf({ ...file, path: `${folder}/${file.path}` })),
  ),
)
console.table(measured)
console.table(
  ANCHORS.map(([code, files, lines, file, functions, comments, folder, spreads]) => ({
    code,
    files,
    lines,
    'file p50 / p90 / max': file,
    'function p50 / p90 / max': functions,
    comments,
    'per folder p50 / max': folder,
    'literal spreads': spreads,
  })),
)
console.log(`Denied words: ${[...DENIED_WORDS].join(', ')}`)
