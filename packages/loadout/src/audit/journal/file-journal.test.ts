/** Durability of a file journal: crashes, torn lines, full disks and several processes in one folder. */
import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { newId } from '../../schema/ids.ts'
import { type AuditEntry, newEntry } from '../entry.ts'
import { type FileJournalOptions, fileJournal } from './file-journal.ts'
import type { Journal } from './journal.ts'
import { JournalFile } from './journal-file.ts'

let dir: string
let open: Journal[]
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'loadout-journal-'))
  open = []
})
afterEach(() => {
  for (const journal of open) journal.close()
  rmSync(dir, { recursive: true, force: true })
})

function start(options: Partial<FileJournalOptions> = {}): Journal {
  const journal = fileJournal({ dir, ...options })
  open.push(journal)
  return journal
}
const entry = (callId: string): AuditEntry => newEntry(newId('auditEntry'), { userId: 'ann', action: 'x', callId })
const idsIn = (journal: Journal, limit = 100) => journal.read(limit)?.entries.map(({ callId }) => callId)
function shipAll(journal: Journal): Array<string | null> {
  const ids: Array<string | null> = []
  for (let batch = journal.read(100); batch; batch = journal.read(100)) {
    ids.push(...batch.entries.map(({ callId }) => callId))
    batch.shipped()
  }
  return ids
}
const journals = () => readdirSync(dir).filter((name) => name.endsWith('.journal'))

/** Makes files look as if a process of this machine that is gone had written them. */
function killed(): void {
  const gone = spawnSync('true').pid
  for (const name of readdirSync(dir)) {
    const [machine, , birth, ...rest] = name.split('-')
    renameSync(join(dir, name), join(dir, [machine, gone, birth, ...rest].join('-')))
  }
}

describe('a file journal', () => {
  it('returns entries in order, unchanged until they are shipped', () => {
    const journal = start()
    for (const id of ['a', 'b', 'c']) journal.append(entry(id))
    expect(idsIn(journal, 2)).toEqual(['a', 'b'])
    const batch = journal.read(2)
    expect(batch?.entries.map(({ callId }) => callId)).toEqual(['a', 'b'])
    expect(batch).toMatchObject({ own: 2, maybeStored: true })
    batch?.shipped()
    expect(idsIn(journal)).toEqual(['c'])
    journal.append(entry('d'))
    expect(shipAll(journal)).toEqual(['c', 'd'])
    expect(journal.read(10)).toBeUndefined()
  })

  it('writes following entries at the end of the turn, or with the next entry, in order', async () => {
    const journal = start()
    journal.append(entry('a'))
    const file = join(dir, journals()[0] as string)
    const written = () => readFileSync(file, 'utf8').trim().split('\n').length
    journal.follow(entry('b'))
    expect(written()).toBe(1)
    await new Promise((resolve) => setImmediate(resolve))
    expect(written()).toBe(2)
    journal.follow(entry('c'))
    journal.append(entry('d'))
    expect(written()).toBe(4)
    journal.follow(entry('e'))
    expect(idsIn(journal)).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(written()).toBe(5)
    journal.follow(entry('f'))
    journal.close()
    expect(written()).toBe(6)
    open = []
  })

  it('does not lose a following entry that cannot be written at once', async () => {
    const journal = start()
    const file = join(dir, 'gone')
    const other = fileJournal({ dir: join(file, 'inside') })
    writeFileSync(file, 'a file where the folder should be')
    other.follow(entry('a'))
    await new Promise((resolve) => setImmediate(resolve))
    expect(() => other.append(entry('b'))).toThrow(expect.objectContaining({ code: 'audit-unavailable' }))
    rmSync(file)
    other.append(entry('c'))
    expect(idsIn(other)).toEqual(['a', 'c'])
    other.close()
    journal.close()
  })

  it('leaves no files after all entries are shipped, and otherwise only the unshipped ones', () => {
    const first = start()
    first.append(entry('a'))
    shipAll(first)
    first.close()
    expect(readdirSync(dir)).toEqual([])
    const second = start()
    second.append(entry('b'))
    second.close()
    expect(journals()).toHaveLength(1)
  })

  it('continues in a new file when one is full and removes shipped files', () => {
    const journal = start({ fileBytes: 600 })
    const ids = Array.from({ length: 20 }, (_, i) => String(i))
    for (const id of ids) journal.append(entry(id))
    expect(journals().length).toBeGreaterThan(3)
    expect(shipAll(journal)).toEqual(ids)
    expect(journals()).toHaveLength(1)
  })

  it('ships the entries of a dead process from its last position, in one process only', async () => {
    const dead = start()
    for (const id of ['a', 'b', 'c']) dead.append(entry(id))
    dead.read(1)?.shipped()
    killed()
    const one = start()
    const other = start()
    expect(await Promise.all([one.recover(), other.recover()])).toEqual([1, 0])
    one.append(entry('own'))
    one.read(10)?.shipped()
    const theirs = one.read(10)
    expect(theirs).toMatchObject({ own: 0, maybeStored: true })
    expect(theirs?.entries.map(({ callId }) => callId)).toEqual(['b', 'c'])
    expect(other.read(10)).toBeUndefined()
    expect(await other.recover()).toBe(0)
  })

  it('reads a dead file again with an invalid position file and marks its entries as possibly stored', async () => {
    const dead = start()
    for (const id of ['a', 'b']) dead.append(entry(id))
    dead.read(1)?.shipped()
    killed()
    for (const name of readdirSync(dir).filter((one) => one.endsWith('.shipped'))) writeFileSync(join(dir, name), '9')
    const next = start()
    await next.recover()
    expect(next.read(10)).toMatchObject({ maybeStored: true, entries: [{ callId: 'a' }, { callId: 'b' }] })
  })

  it('ignores files of a live process and other files', async () => {
    const live = start()
    live.append(entry('a'))
    writeFileSync(join(dir, 'readme'), 'x')
    writeFileSync(join(dir, 'x-1-1-00000000-0.journal'), 'x')
    expect(await start().recover()).toBe(0)
    expect(shipAll(live)).toEqual(['a'])
  })

  it('takes over files of another machine after a minute without a heartbeat', async () => {
    const theirs = start()
    theirs.append(entry('a'))
    const [name = ''] = journals()
    const foreign = join(dir, name.replace(/^[0-9a-f]{12}/, 'abcdefabcdef'))
    renameSync(join(dir, name), foreign)
    const ours = start()
    expect(await ours.recover()).toBe(0)
    const old = new Date(Date.now() - 61_000)
    utimesSync(foreign, old, old)
    expect(await ours.recover()).toBe(1)
    expect(shipAll(ours)).toEqual(['a'])
  })

  it.each([
    ['in the middle of the last', (text: string) => text.slice(0, -20)],
    ['before its end', (text: string) => text.slice(0, -1)],
    ['in the first', (text: string) => text.slice(10)],
    ['by zeros, as a machine that lost its power leaves them', (text: string) => `${text}${'\0'.repeat(500)}`],
    ['by another writer', (text: string) => `{"entryId":1}\nnull\n\n${text}`],
  ])('reports an entry that is torn %s and loses no other entry', async (_, tear) => {
    const dead = start()
    for (const id of ['a', 'b', 'c']) dead.append(entry(id))
    killed()
    const [name = ''] = journals()
    const whole = readFileSync(join(dir, name), 'utf8')
    writeFileSync(join(dir, name), tear(whole))
    const damage: number[] = []
    const next = start({ onDamage: ({ lines }) => damage.push(lines) })
    await next.recover()
    const got = shipAll(next)
    expect(got.length).toBeGreaterThanOrEqual(2)
    // A whole line without its end of line is a whole line.
    if (got.length < 3 || tear(whole).length > whole.length) expect(damage.length).toBeGreaterThan(0)
    expect(journals()).toEqual([])
  })

  it('skips a torn entry and reads the next', () => {
    const journal = start()
    journal.append(entry('a'))
    const [name = ''] = journals()
    appendFileSync(join(dir, name), '{"half":')
    journal.append(entry('b'))
    // What others write into the file is not counted, and still read as what it is.
    journal.append(entry('c'))
    expect(shipAll(journal)).toContain('a')
  })

  it.runIf(existsSync('/dev/full'))('reports a full disk and preserves earlier entries', () => {
    const full = JournalFile.open('/dev/full')
    expect(() => full.append('x\n')).toThrow(expect.objectContaining({ code: 'ENOSPC' }))
    expect(full.size).toBe(0)
    full.close()
  })

  it('rejects entries with an error if the folder cannot be written', () => {
    writeFileSync(join(dir, 'file'), '')
    const journal = fileJournal({ dir: join(dir, 'file', 'inside') })
    expect(() => journal.append(entry('a'))).toThrow(
      expect.objectContaining({ code: 'audit-unavailable', message: expect.stringContaining('ENOTDIR') }),
    )
  })
})
