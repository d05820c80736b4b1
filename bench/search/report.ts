/** The tables, and the section of `docs/about/benchmark-results.md` that they make. */
import { readFileSync, writeFileSync } from 'node:fs'
import type { Row } from './run.ts'
import type { BenchSet, Corpus } from './sets.ts'
import type { TokenRow } from './tokens.ts'

export interface Table {
  title: string
  rows: readonly Row[]
}

const HEAD = [
  '',
  'R@1',
  'R@3',
  'R@5 [95 %]',
  'R@10',
  'nDCG@10',
  'MRR',
  'p50 ms',
  'p95 ms',
  'plain p95',
  'build ms',
  'MB',
]

const cells = (row: Row): string[] => [
  row.contender,
  row.recall[1].toFixed(1),
  row.recall[3].toFixed(1),
  `${row.recall[5].toFixed(1)} [${row.interval.map((one) => one.toFixed(1)).join('–')}]`,
  row.recall[10].toFixed(1),
  row.ndcg.toFixed(1),
  row.mrr.toFixed(1),
  row.p50.toFixed(2),
  row.p95.toFixed(2),
  row.plainP95.toFixed(2),
  row.buildMs.toFixed(0),
  row.megabytes.toFixed(1),
]

const markdown = (lines: readonly string[][]) =>
  lines
    .flatMap((line, index) => [
      `| ${line.join(' | ')} |`,
      ...(index === 0 ? [`| ${line.map(() => '---').join(' | ')} |`] : []),
    ])
    .join('\n')

export const tableOf = ({ title, rows }: Table) => `### ${title}\n\n${markdown([HEAD, ...rows.map(cells)])}\n`

/** Ours by default against the best of the peers, set by set. */
export function summaryOf(tables: readonly Table[]): string {
  const lines = tables.flatMap(({ title, rows }) => {
    const ours = rows.find((row) => row.ours)
    const peers = rows.filter((row) => !row.ours)
    if (!ours || peers.length === 0) return []
    const best = peers.reduce((a, b) => (b.recall[5] > a.recall[5] ? b : a))
    const [own, other] = [ours.recall[5], best.recall[5]]
    return [[title, own.toFixed(1), `${other.toFixed(1)}, ${best.contender}`, (own - other).toFixed(1)]]
  })
  return markdown([['R@5', 'Loadout hybrid', 'the best peer', 'difference'], ...lines])
}

export const tokensOf = (rows: readonly TokenRow[]) =>
  markdown([
    ['', 'tokens', 'of all', 'R@5 [95 %]'],
    ...rows.map(({ what, tokens, share, recall }) => [
      what,
      Math.round(tokens).toLocaleString('en'),
      `${(100 * share).toFixed(1)} %`,
      recall,
    ]),
  ])

export const sourcesOf = (all: ReadonlyArray<BenchSet | Corpus>) =>
  all
    .map((one) => {
      const queries = 'reported' in one ? `, ${one.tuning.length + one.reported.length} queries` : ', no queries'
      return `- ${one.name}: ${one.tools.length} tools${queries}; ${one.source} (${one.license})`
    })
    .join('\n')

const [START, END] = ['<!-- search: written by `npm run bench:search` -->', '<!-- search: end -->']

/** Between its marks; at the end where they are not there. */
export function writeSection(file: URL, section: string): void {
  const text = readFileSync(file, 'utf8')
  const [start, end] = [text.indexOf(START), text.indexOf(END)]
  const own = `${START}\n\n${section.trim()}\n\n${END}`
  const whole =
    start >= 0 && end > start
      ? text.slice(0, start) + own + text.slice(end + END.length)
      : `${text.trimEnd()}\n\n${own}\n`
  writeFileSync(file, whole)
}
