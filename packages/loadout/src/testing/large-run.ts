/** Runs `large-results.ts` over a storage, with its two servers, and gives what it reported. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import type { LargeReport } from './large-results.ts'
import { largeText } from './large-rows.ts'

const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))

/** With the filesystem server at that path; `where` is a PostgreSQL's URL, and without it a PGlite of its own. */
export async function runLarge(filesystem: string, where?: string): Promise<LargeReport[]> {
  const folder = await mkdtemp(join(tmpdir(), 'loadout-large-'))
  const file = join(folder, 'large.txt')
  await writeFile(file, largeText())
  const stdio: ['ignore', 'pipe', 'inherit'] = ['ignore', 'pipe', 'inherit']
  const server = spawn(process.execPath, [pathOf('./large-server.ts')], { stdio })
  try {
    const [url] = await once(createInterface({ input: server.stdout }), 'line')
    const args = [pathOf('./large-results.ts'), where ?? join(folder, 'data'), url, filesystem, file]
    const host = spawn(process.execPath, args, { stdio })
    const reports: LargeReport[] = []
    createInterface({ input: host.stdout }).on('line', (line) => reports.push(JSON.parse(line)))
    await once(host, 'close')
    return reports
  } finally {
    server.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * An answer is held as bytes, as text and as values, for a moment each beside the next. The text of a file comes twice, as
 * content and as structured content, so the larger answer has 100 MB; eight times that is room for what the collector of
 * garbage has not seen yet. Without a bound it would be the sum over all calls and reads.
 */
const MOST_GROWN = 800_000_000

/** What must hold of both servers, whatever keeps the results. */
export function expectRead(reports: readonly LargeReport[]): void {
  expect(reports.map(({ name, wrong }) => ({ name, wrong }))).toEqual([
    { name: 'files.read_text_file', wrong: [] },
    { name: 'rows.rows', wrong: [] },
  ])
  for (const { previewBytes, grownBytes } of reports) {
    expect(previewBytes).toBeLessThan(2048)
    expect(grownBytes).toBeLessThan(MOST_GROWN)
  }
}
