/** Settings → a server that runs until it is told to stop. */
import { run } from './run.ts'

await run()
