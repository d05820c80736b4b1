import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const run = promisify(execFile)

/** A group whose process does not keep the host alive, as an idle sandbox. */
const CLOSE_IDLE = `
  import { createProcessGroups } from ${JSON.stringify(new URL('process-group.ts', import.meta.url).href)}
  const groups = createProcessGroups()
  const { child } = await groups.start({ command: 'sh', args: ['-c', "trap 'sleep 0.3; exit' TERM; while :; do sleep 0.1; done"], env: { PATH: '/usr/bin:/bin' } })
  for (const part of [child, child.stdin, child.stdout, child.stderr]) part.unref()
  await groups.close()
  console.log('closed', groups.count())
`

it('keeps the process alive until each group has ended', async () => {
  const { stdout } = await run(process.execPath, ['--input-type=module-typescript', '-e', CLOSE_IDLE])
  expect(stdout).toBe('closed 0\n')
})
