/** Writes the result of a run of Vitest as JSON to the file that `LOADOUT_TEST_REPORT` names. */
import { writeFileSync } from 'node:fs'
import type { Reporter, TestModule } from 'vitest/node'

export interface FailedTest {
  /** The titles of its groups and its own, joined by ` > `. */
  readonly title: string
  readonly file: string
  readonly project: string
}

export interface TestReport {
  readonly passed: number
  readonly failed: readonly FailedTest[]
  readonly skipped: number
  /** Passed only after a retry. */
  readonly retried: readonly FailedTest[]
  /** Files that could not be loaded, hooks that failed, errors outside of every test. */
  readonly errors: number
}

export default class TestReportReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const all = modules.flatMap((module) =>
      [...module.children.allTests()].map((test) => ({
        state: test.result().state,
        retried: (test.diagnostic()?.retryCount ?? 0) > 0,
        failed: { title: test.fullName, file: module.relativeModuleId, project: module.project.name },
      })),
    )
    const inState = (state: string) => all.filter((test) => test.state === state)
    const report: TestReport = {
      passed: inState('passed').length,
      failed: inState('failed').map((test) => test.failed),
      skipped: inState('skipped').length,
      retried: inState('passed').flatMap((test) => (test.retried ? [test.failed] : [])),
      errors: unhandled.length + modules.flatMap((module) => [...module.errors(), ...suiteErrors(module)]).length,
    }
    const path = process.env.LOADOUT_TEST_REPORT
    if (path) writeFileSync(path, JSON.stringify(report))
  }
}

function suiteErrors(module: TestModule) {
  return [...module.children.allSuites()].flatMap((suite) => suite.errors())
}
