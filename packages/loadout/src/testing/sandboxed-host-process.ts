/**
 * A host to be killed: `node sandboxed-host-process.ts <mark> [host]`. It starts two sandboxed servers that ignore SIGTERM
 * and have children with the mark in their command line, prints "ready" and waits.
 */
import { openInside, sandboxed } from './inside.ts'

const [, , mark = '', host] = process.argv
const drivers = sandboxed()
const stubborn = `require('node:child_process').spawn('/bin/sh', ['-c', 'trap "" TERM HUP INT; while :; do sleep 1; done; : ${mark}'], { detached: true, stdio: 'ignore' }); process.on('SIGTERM', () => {})`
for (const hosts of [undefined, host === undefined ? undefined : [host]]) {
  const inside = await openInside(drivers, { hosts })
  await inside.run(stubborn)
}
process.stdout.write('ready\n')
setInterval(() => {}, 1000)
