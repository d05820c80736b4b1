/** Counts blocks in this process from here on: set-up of the project `counted`, before it loads what is counted. */
import { startCoverage } from './coverage.ts'
import { counting } from './work.ts'

counting.read ??= startCoverage(true)
