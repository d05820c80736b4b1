/** What `npm test` wants to know of a run of Vitest, written as JSON into `LOADOUT_TEST_REPORT`. */
import { writeFileSync } from 'node:fs'
import type { Reporter, TestModule } from 'vitest/node'

export interface TestReport {
  readonly passed: number
  /** By file and name. */
  readonly failed: readonly string[]
  readonly failedFiles: readonly string[]
  /** Files that could not be read, hooks that failed, errors outside of every test. */
  readonly errors: number
}

export default class TestReportReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const failedFiles = modules.filter((module) => module.state() === 'failed')
    const all = modules.flatMap((module) => [...module.children.allTests()].map((test) => ({ module, test })))
    const inState = (state: string) => all.filter(({ test }) => test.result().state === state)
    const report: TestReport = {
      passed: inState('passed').length,
      failed: inState('failed').map(({ module, test }) => `${module.relativeModuleId} > ${test.fullName}`),
      failedFiles: failedFiles.map((module) => module.relativeModuleId),
      errors: unhandled.length + modules.flatMap((module) => [...module.errors(), ...suiteErrors(module)]).length,
    }
    const path = process.env.LOADOUT_TEST_REPORT
    if (path) writeFileSync(path, JSON.stringify(report))
  }
}

function suiteErrors(module: TestModule) {
  return [...module.children.allSuites()].flatMap((suite) => suite.errors())
}
