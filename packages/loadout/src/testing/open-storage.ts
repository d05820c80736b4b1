/** A process that opens the storage at the given URL, says so, and ends. For tests of processes that start together. */
import { postgres } from '../storage/postgres.ts'

const storage = postgres({ url: process.argv[2] ?? '' })
await storage.ready()
process.stdout.write('ready\n')
await storage.close()
