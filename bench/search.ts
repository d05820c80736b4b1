/**
 * How well tools are found, how fast, and what it saves: ours and the peers on every set of a folder, alone and among the tools
 * of a corpus. `LOADOUT_BENCH_DATA=<folder> npm run bench:search [-- <set>… --quick --write]`
 */
import { OURS } from './search/ours.ts'
import { PEERS } from './search/peers.ts'
import { sourcesOf, summaryOf, type Table, tableOf, tokensOf, writeSection } from './search/report.ts'
import { measure } from './search/run.ts'
import { among, type BenchSet, type Corpus, hasExamples, readSets, sample, withExamples } from './search/sets.ts'
import { tokenRows } from './search/tokens.ts'

const AMONG = [10_000, Number.POSITIVE_INFINITY]
const EXAMPLES = [5, 20]
/** Among many tools some peers take long: no more of the reported queries than these. */
const MOST_QUERIES = 300
const TOKEN_SET = 'livemcpbench'

const folder = process.env.LOADOUT_BENCH_DATA
if (folder === undefined) {
  console.error(
    'Set LOADOUT_BENCH_DATA to a folder of sets: <set>/{meta,tools,queries}.json. docs/about/benchmark-results.md names where they come from.',
  )
  process.exit(1)
}
const wanted = process.argv.slice(2).filter((one) => !one.startsWith('--'))
const [isQuick, isWritten] = ['--quick', '--write'].map((flag) => process.argv.includes(flag))
const { sets, corpora } = readSets(folder)
const chosen = sets.filter(({ name }) => wanted.length === 0 || wanted.includes(name))

const tables: Table[] = []
for (const set of chosen) for (const variant of variantsOf(set, corpora)) await run(variant)
const summary = summaryOf(tables)
console.log(`\n${summary}\n`)
const tokenSet = chosen.find(({ name }) => name === TOKEN_SET)
const tokens = tokenSet && (await tokenRows(tokenSet))
if (tokens) console.log(`${tokensOf(tokens.rows)}\n`)
if (isWritten) writeSection(new URL('../docs/about/benchmark-results.md', import.meta.url), section())

interface Variant {
  title: string
  set: BenchSet
}

function* variantsOf(set: BenchSet, others: readonly Corpus[]): Generator<Variant> {
  const count = (one: BenchSet) => `${one.tools.length.toLocaleString('en')} tools, ${one.reported.length} queries`
  yield { title: `${set.name}: ${count(set)}`, set }
  if (hasExamples(set))
    for (const examples of EXAMPLES)
      yield { title: `${set.name}, up to ${examples} examples a tool: ${count(set)}`, set: withExamples(set, examples) }
  if (others.length === 0) return
  for (const most of isQuick ? AMONG.slice(0, 1) : AMONG) {
    const many = sample(among(set, others, most), MOST_QUERIES)
    yield { title: `${set.name} among ${others.map(({ name }) => name).join(', ')}: ${count(many)}`, set: many }
  }
}

async function run({ title, set }: Variant): Promise<void> {
  const rows = []
  for (const contender of isQuick ? [...OURS.slice(0, 2), ...PEERS.slice(4)] : [...OURS, ...PEERS])
    rows.push(await measure(contender, set))
  const table = { title, rows }
  tables.push(table)
  console.log(`\n${tableOf(table)}`)
}

function section(): string {
  const parts = [
    '## Tool search',
    '`LOADOUT_BENCH_DATA=<folder> npm run bench:search -- --write` writes this section (2 cores, Node 24, others at work on the machine).',
    `Public sets; they are not part of this repository:\n\n${sourcesOf([...chosen, ...corpora])}`,
    'R@k is the mean share of the wanted tools among the first k; of tools that do the same, any counts. Queries are split by the SHA-256 of their text, and one half is reported (all of a set of fewer than 60). Parameters were chosen on plateaus, with both halves in view and the small set too; by the other half alone, none of them halved or doubled gains more than 0.8 points of mean R@5. "Among" adds the tools of the corpus, without those that say the same as one that is there. Examples are drawn from the half for tuning. Latency is one whole search for ten tools, `index.search(query)` for ours, the least of up to five rounds for each query, and as "plain p95" that of all rounds as they were; the build is from a list of tools to the first answer, the faster of two; MB is what is held afterwards.',
    '### In short',
    summary,
    ...(tokens
      ? [
          '### What a prompt costs',
          `${TOKEN_SET}, ${tokens.tokenizer}: what \`thread.resolve\` gives of them, a toolkit a server: full schemas by the names that a model sees, \`search_tools\` (${tokens.searchTools} tokens) among them.`,
          tokensOf(tokens.rows),
        ]
      : []),
    ...tables.map(tableOf),
  ]
  return parts.join('\n\n')
}
