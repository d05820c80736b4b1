import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { copyPrepared } from '../../../../test/prepare-pglite.ts'
import { type SharedPglite, sharedPglite } from '../../test/fixtures/shared-pglite.ts'
import { sampleThreadRow } from '../testing/suites/storage/rows.ts'
import { storageSuite } from '../testing/suites/storage/suite.ts'
import { folderHolder, lockFolder } from './folder-lock.ts'
import { pglite, restorePglite } from './pglite.ts'

describe('storage: pglite', () => {
  let engine: SharedPglite
  beforeAll(async () => {
    engine = await sharedPglite()
  })
  afterAll(() => engine.close())
  for (const { name, run } of storageSuite(() => engine.open())) it(name, run)
})

describe('a pglite folder', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'loadout-pglite-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it('keeps its data, is locked by one process and is copied by backup and restore', async () => {
    const dataDir = join(folder, 'one')
    await copyPrepared(dataDir)
    const ann = { userId: 'ann' }
    const first = pglite({ dataDir })
    await first.transaction(ann, (tx) => tx.insert('threads', sampleThreadRow('ann', { threadId: 't' })))
    await expect(pglite({ dataDir }).ready()).rejects.toMatchObject({ code: 'storage-locked' })
    const backup = await first.backup()
    await first.close()

    const again = pglite({ dataDir })
    expect(await again.transaction(ann, (tx) => tx.list('threads'))).toHaveLength(1)
    await again.close()

    const copy = join(folder, 'two')
    await restorePglite(copy, backup)
    const restored = pglite({ dataDir: copy })
    expect(await restored.transaction(ann, (tx) => tx.list('threads'))).toHaveLength(1)
    await restored.close()
    await expect(restorePglite(copy, backup)).rejects.toMatchObject({ code: 'conflict' })
  })

  it('with a lock of a dead process is taken over by only one process', async () => {
    const dataDir = join(folder, 'stale')
    const lock = await lockFolder(dataDir)
    await lock.release()
    await writeFile(join(dataDir, 'lock'), JSON.stringify({ pid: 2 ** 22 - 3, birth: '1', token: 'gone' }))
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => lockFolder(dataDir)))
    expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1)
  })

  it.runIf(process.platform === 'linux')('treats the lock of another process with the same pid as stale', async () => {
    const dataDir = join(folder, 'reborn')
    const lock = await lockFolder(dataDir)
    const mine = JSON.parse(await readFile(join(dataDir, 'lock'), 'utf8'))
    await lock.release()
    await writeFile(join(dataDir, 'lock'), JSON.stringify(mine))
    expect(await folderHolder(dataDir)).toBe(process.pid)
    await expect(lockFolder(dataDir)).rejects.toMatchObject({ code: 'storage-locked' })
    await writeFile(join(dataDir, 'lock'), JSON.stringify({ ...mine, birth: '1' }))
    expect(await folderHolder(dataDir)).toBeUndefined()
    await (await lockFolder(dataDir)).release()
  })

  it('is empty after an invalid backup is rejected', async () => {
    const dataDir = join(folder, 'garbage')
    const garbage = restorePglite(dataDir, new TextEncoder().encode('not a backup'))
    await expect(garbage).rejects.toMatchObject({ code: 'invalid-input', action: expect.stringContaining('backup') })
    expect(await readdir(dataDir)).toEqual([])
  })

  it('stays locked until an engine that cannot migrate is closed', async () => {
    const dataDir = join(folder, 'foreign')
    await mkdir(dataDir)
    const foreign = await PGlite.create({ dataDir: join(dataDir, 'pglite') })
    await foreign.exec('create schema mcp')
    await foreign.close()
    const holders: Array<number | undefined> = []
    const { close } = PGlite.prototype
    const closed = vi.spyOn(PGlite.prototype, 'close').mockImplementation(async function (this: PGlite) {
      await close.call(this)
      holders.push(await folderHolder(dataDir))
    })
    await expect(pglite({ dataDir }).ready()).rejects.toMatchObject({ code: 'internal' })
    expect(holders).toEqual([process.pid])
    expect(await folderHolder(dataDir)).toBeUndefined()
    closed.mockRestore()
  })
})
