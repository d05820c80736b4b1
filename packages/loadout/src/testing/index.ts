/** Contract suites, for drivers of your own. */
export { storageSuite } from './storage-suite.ts'
export type { SuiteCase } from './suite-case.ts'
