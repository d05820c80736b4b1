export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2
}

/** The ratio of each round, and their median with the spread. */
export function ratio(ours: readonly number[], bare: readonly number[]): { median: number; text: string } {
  const ratios = ours.map((value, round) => value / (bare[round] ?? Number.NaN))
  const [least, most] = [Math.min(...ratios), Math.max(...ratios)]
  const middle = median(ratios)
  return { median: middle, text: `${middle.toFixed(2)} [${least.toFixed(2)}–${most.toFixed(2)}]` }
}

/** Each contender in turn, the first of a round being another one each time. */
export async function interleave<Name extends string>(
  rounds: number,
  contenders: ReadonlyArray<readonly [Name, (round: number) => Promise<number>]>,
): Promise<Record<Name, number[]>> {
  const measured = Object.fromEntries(contenders.map(([name]) => [name, [] as number[]])) as Record<Name, number[]>
  for (let round = 0; round < rounds; round++)
    for (let turn = 0; turn < contenders.length; turn++) {
      const [name, measure] = contenders[(round + turn) % contenders.length] as (typeof contenders)[number]
      measured[name].push(await measure(round))
    }
  return measured
}

export function printTable(rows: ReadonlyArray<readonly string[]>): void {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)))
  const line = (row: readonly string[]) => `| ${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`
  const [head, ...body] = rows
  console.log(line(head ?? []))
  console.log(`| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`)
  for (const row of body) console.log(line(row))
}
