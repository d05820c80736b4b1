/** Runs Vitest with a reporter that writes one JSON report, and says in plain words which tests failed and how to run them. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FailedTest, TestReport } from './test-report.ts'

export interface TestRun extends TestReport {
  /** The exit code of Vitest. */
  readonly status: number
}

/** Fails with an error where Vitest ends without a report. */
export function runTests(args: readonly string[] = []): TestRun {
  const folder = mkdtempSync(join(tmpdir(), 'loadout-test-'))
  try {
    const path = join(folder, 'report.json')
    const { status } = spawnSync(
      'vitest',
      ['run', '--reporter=default', '--reporter=./scripts/test-report.ts', ...args],
      { stdio: 'inherit', env: { ...process.env, LOADOUT_TEST_REPORT: path } },
    )
    if (!existsSync(path)) throw new Error('Vitest ended without a report. See its output above.')
    return { ...(JSON.parse(readFileSync(path, 'utf8')) as TestReport), status: status ?? 1 }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A run is good if every test passed, and nothing failed outside of a test. */
export function isGood({ status, failed, errors, passed }: TestRun): boolean {
  return status === 0 && failed.length === 0 && errors === 0 && passed > 0
}

/** The line that closes every run. */
export function closingLine({ passed, failed, skipped }: TestRun): string {
  const counts = `${passed} passed, ${failed.length} failed`
  return skipped > 0 ? `${counts}, ${skipped} skipped` : counts
}

export function describeFailure({ title, file, project }: FailedTest): string {
  return [`✗ ${title}`, `  ${file}`, `  Run it alone: ${commandFor({ title, file, project })}`].join('\n')
}

/** Vitest reads the title as a regular expression, and the shell must not read it at all. */
export function commandFor({ title, file, project }: FailedTest): string {
  const pattern = title.replaceAll(' > ', ' ').replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
  return `npm run vitest -- run --project ${project} ${file} -t '${pattern.replaceAll("'", "'\\''")}'`
}
