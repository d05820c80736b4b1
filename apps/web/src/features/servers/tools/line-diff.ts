/** Line diff by longest common subsequence. */
export interface DiffLine {
  kind: 'same' | 'gone' | 'new'
  text: string
}

/** Above this table size all old lines are removed and all new lines added. */
const MAX_CELLS = 4_000_000

export function diffLines(before: string, after: string): DiffLine[] {
  const old = linesOf(before)
  const now = linesOf(after)
  const line = (kind: DiffLine['kind']) => (text: string) => ({ kind, text })
  if (old.length * now.length > MAX_CELLS) return [...old.map(line('gone')), ...now.map(line('new'))]
  const length = commonLengths(old, now)
  const lines: DiffLine[] = []
  let i = 0
  let j = 0
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      lines.push(line('same')(old[i] as string))
      i++
      j++
    } else if (j >= now.length || (i < old.length && at(length, i + 1, j) >= at(length, i, j + 1)))
      lines.push(line('gone')(old[i++] as string))
    else lines.push(line('new')(now[j++] as string))
  }
  return lines
}

const linesOf = (text: string) => (text === '' ? [] : text.split('\n'))

/** Keeps lines near changes and replaces the rest with gaps. */
export function nearChanges(lines: readonly DiffLine[], around = 3): Array<DiffLine | 'gap'> {
  const isNear = lines.map((_, index) =>
    lines.slice(Math.max(0, index - around), index + around + 1).some(({ kind }) => kind !== 'same'),
  )
  return lines.flatMap((line, index): Array<DiffLine | 'gap'> => {
    if (isNear[index]) return [line]
    return index === 0 || isNear[index - 1] ? ['gap' as const] : []
  })
}

const at = (table: readonly Uint32Array[], i: number, j: number) => table[i]?.[j] ?? 0

function commonLengths(old: readonly string[], now: readonly string[]): Uint32Array[] {
  const table = Array.from({ length: old.length + 1 }, () => new Uint32Array(now.length + 1))
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--) {
      const row = table[i] as Uint32Array
      row[j] = old[i] === now[j] ? at(table, i + 1, j + 1) + 1 : Math.max(at(table, i + 1, j), at(table, i, j + 1))
    }
  return table
}
