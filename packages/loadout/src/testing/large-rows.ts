/** Results of 50 MB for tests: a text of lines, and rows as JSON. Each line and row can be told from its number alone. */
export const LINES = 500_000
export const ROWS = 500_000

/** A hundred bytes with its end; some have characters that take more than one byte, or two places. */
export const lineOf = (number: number) => {
  const begin = `line ${number} ${number % 1000 === 0 ? '漢字 😀 ' : ''}`
  return begin + '.'.repeat(99 - Buffer.byteLength(begin))
}
export const rowOf = (id: number) => ({ id, name: `row ${id}`, note: 'n'.repeat(65) })

export const largeText = () => Array.from({ length: LINES }, (_, index) => lineOf(index + 1)).join('\n')
export const largeRows = () => Array.from({ length: ROWS }, (_, index) => rowOf(index))
