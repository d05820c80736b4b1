/** Server entry point. */
import { run } from './run.ts'

await run()
