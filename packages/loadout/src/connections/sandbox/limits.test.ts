/** What a server inside can use up: its own share. The machine, and the other servers, go on. */
import { spawnSync } from 'node:child_process'
import { afterAll, describe, expect, it } from 'vitest'
import { openSandboxed, sandboxed } from '../../../test/fixtures/sandboxed-server.ts'
import { createCgroups } from './cgroup.ts'
import { DEFAULT_PROCESS_LIMITS } from './limits.ts'

const MIB = 1024 * 1024
const limits = { processBytes: 900 * MIB, processes: 40, fileBytes: 4 * MIB, scratchBytes: 16 * MIB, openFiles: 200 }
const drivers = sandboxed({ sandbox: { limits } })
afterAll(() => drivers.close())

const script = (lines: string) =>
  `const fs = require('node:fs'), { spawnSync } = require('node:child_process');${lines}`

describe('a sandbox limit', () => {
  it('for memory stops only the sandbox that exceeds it', async () => {
    const [greedy, other] = [await openSandboxed(drivers), await openSandboxed(drivers)]
    const grab = `const all = []; for (let i = 0; i < 3000; i++) all.push(Buffer.alloc(1 << 20, 1)); return all.length`
    const outcome = await greedy.run(grab).catch((error) => ({ died: error.code }))
    expect(outcome).not.toEqual({ value: 3000 })
    expect(await other.run('return 1')).toEqual({ value: 1 })
    await Promise.all([greedy.connection.close(), other.connection.close()])
  })

  it('for total memory applies if the kernel supports cgroups', async () => {
    const account = await createCgroups().open(DEFAULT_PROCESS_LIMITS)
    await account?.remove()
    const small = sandboxed({ sandbox: { limits: { memoryBytes: 300 * MIB } } })
    const inside = await openSandboxed(small)
    // Each takes less than a process may.
    const eat = `const all = []; for (let i = 0; i < 120; i++) all.push(Buffer.alloc(1 << 20, 1)); setTimeout(() => console.log(all.length), 1000)`
    const feast = `const { spawn } = require('node:child_process'); const ends = await Promise.all([1, 2, 3, 4].map(() => new Promise((resolve) => spawn(process.execPath, ['-e', ${JSON.stringify(eat)}]).on('exit', (code, signal) => resolve(signal ?? code))))); return ends`
    const outcome = await inside.run(feast).catch((error) => ({ value: [error.code] }))
    const allSucceeded = JSON.stringify(outcome.value) === '[0,0,0,0]'
    expect(allSucceeded).toBe(account === undefined)
    process.stdout.write(`the kernel keeps ${account ? '' : 'no '}accounts for us: ${JSON.stringify(outcome.value)}\n`)
    await small.close()
  })

  it('for processes stops a fork bomb', async () => {
    const inside = await openSandboxed(drivers)
    const bomb = script(
      `const { stdout } = spawnSync('/bin/sh', ['-c', 'n=0; for i in $(seq 200); do sleep 5 & n=$((n+1)); echo $n; done'], { timeout: 3000 }); return stdout.toString().trim().split('\\n').length`,
    )
    expect((await inside.run(bomb)).value).toBeLessThan(40)
    await inside.connection.close()
    const other = await openSandboxed(drivers)
    expect(await other.run(script(`return spawnSync('/bin/true').status`))).toEqual({ value: 0 })
    await other.connection.close()
  })

  it('for files applies to one file and to all files', async () => {
    const inside = await openSandboxed(drivers)
    const big = script(
      `const f = fs.openSync('/tmp/big', 'w'); process.on('SIGXFSZ', () => {}); let n = 0; try { for (; n < 64; n++) fs.writeSync(f, Buffer.alloc(1 << 20)) } catch (e) { return e.code } return n`,
    )
    expect((await inside.run(big)).value).toBe('EFBIG')
    const many = (folder: string) =>
      script(
        `let n = 0; try { for (; n < 64; n++) fs.writeFileSync('${folder}/' + n, Buffer.alloc(1 << 20)) } catch (e) { return [e.code, n] } return n`,
      )
    for (const folder of ['/tmp', '/home/sandbox', '/dev/shm']) {
      const [code, count] = (await inside.run(many(folder))).value as [string, number]
      expect([folder, code]).toEqual([folder, 'ENOSPC'])
      expect(count).toBeLessThan(17)
    }
    await inside.connection.close()
  })

  it('for open files applies, and no limit can be raised', async () => {
    const inside = await openSandboxed(drivers)
    const open = script(
      `let n = 0; const all = []; try { for (; n < 1000; n++) all.push(fs.openSync('/dev/null', 'r')) } catch (e) { all.forEach((f) => fs.closeSync(f)); return e.code } return n`,
    )
    expect((await inside.run(open)).value).toBe('EMFILE')
    const raise = script(
      `return ['--nproc', '--as', '--data', '--fsize', '--nofile', '--cpu'].map((limit) => spawnSync('prlimit', [limit + '=unlimited', 'true']).status)`,
    )
    expect((await inside.run(raise)).value).not.toContain(0)
    await inside.connection.close()
  })
})

describe('a sandbox without cgroups', () => {
  const limitsOf = async (cgroups: boolean, own = {}) => {
    const drivers = sandboxed({ sandbox: { cgroups, limits: own } })
    const inside = await openSandboxed(drivers)
    const text = String((await inside.run(script(`return fs.readFileSync('/proc/self/limits', 'utf8')`))).value)
    const warnings = await drivers.warnings?.()
    await drivers.close()
    const soft = (name: string) => Number(new RegExp(`^${name}\\s+(\\d+)`, 'm').exec(text)?.[1])
    return { bytes: soft('Max data size'), processes: soft('Max processes'), warnings }
  }

  it('gets lower process limits and a warning', async () => {
    expect(await limitsOf(false)).toEqual({
      bytes: 2048 * MIB,
      processes: 64,
      warnings: [expect.stringContaining('cgroups')],
    })
    expect(await limitsOf(false, { processBytes: 3072 * MIB })).toMatchObject({ bytes: 3072 * MIB, processes: 64 })
    const account = await createCgroups().open(DEFAULT_PROCESS_LIMITS)
    await account?.remove()
    if (account) expect(await limitsOf(true)).toEqual({ bytes: 4096 * MIB, processes: 256, warnings: [] })
  })

  // Nobody else than root has accounts of the kernel here.
  it.runIf(process.getuid?.() === 0)('does not start if the operator requires cgroups', async () => {
    const inside = new URL('../../../test/fixtures/sandboxed-server.ts', import.meta.url).href
    const code = `const { openSandboxed, sandboxed } = await import('${inside}'); for (const cgroups of ['required', true]) { const drivers = sandboxed({ sandbox: { cgroups } }); console.log(await openSandboxed(drivers).then(() => 'ran', (error) => error.code + ' ' + error.message)); await drivers.close() }`
    const args = ['--input-type=module', '-e', code]
    const { stdout } = spawnSync(process.execPath, args, { uid: 54_321, gid: 54_321, encoding: 'utf8' })
    expect(stdout.trim().split('\n')).toEqual([expect.stringMatching(/^stdio-refused .*cgroups/), 'ran'])
  })
})
