/** Contract suites, for drivers of your own. */
export { type SuiteCase, storageSuite } from './storage-suite.ts'
