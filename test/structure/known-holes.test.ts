/** docs/concepts/security.md names a test for every known hole: each of them is there. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from './import-graph.ts'

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const rows = [...read('docs/concepts/security.md').matchAll(/^\| (.+?) \| .+? \| `([^`]+)` "((?:[^"\\]|\\.)+)" \|$/gm)]

describe('known holes', () => {
  it('are all read from the table', () => {
    const lines = read('docs/concepts/security.md')
      .split('\n')
      .filter((line) => line.startsWith('| ') && !line.startsWith('| what') && !line.startsWith('| ---'))
    expect(rows).toHaveLength(lines.length)
    expect(rows.length).toBeGreaterThan(14)
  })

  for (const [, hole = '', file = '', title = ''] of rows)
    it(`${hole.slice(0, 60)}: ${file}`, () => {
      expect(read(file)).toContain(title.replaceAll('\\"', '"'))
    })
})
