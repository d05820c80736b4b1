/**
 * Journal of files in a folder, for Node. Each process appends JSON lines to its own file. A write is done when the
 * kernel has it, so it survives the end of the process. The file name identifies the owner.
 *
 * - The shipped offset is stored next to the file. A full file is followed by a new one and deleted after shipping.
 * - A file of a dead process is taken over by renaming it: of several processes, one succeeds.
 * - Processes of this machine are identified by PID and start time. For others, for example in another container on the
 *   same volume, only the time of the last heartbeat is known. A process without recent heartbeats checks that it still
 *   owns its file before it writes.
 */
import { createHash, hash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, readlinkSync, renameSync, rmSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { clearImmediate, setImmediate } from 'node:timers'
import { HostError } from '../../errors.ts'
import type { AuditEntry } from '../entry.ts'
import type { Journal, JournalBatch } from './journal.ts'
import { JournalFile, type ReadEntries } from './journal-file.ts'

export interface FileJournalOptions {
  /** Folder of the journal. Several processes may share it. */
  dir: string
  /** Size in bytes at which a new file starts. @default 4_194_304 */
  fileBytes?: number
  /** Receives the number of unreadable lines, for example after a crash or on a full disk. */
  onDamage?: (damage: { file: string; lines: number }) => void
}

const FILE_BYTES = 4 * 1024 * 1024
const HEARTBEAT_MS = 5000
const STALE_MS = 60_000
/** Every fourth batch comes from recovered files, so that neither kind starves. */
const RECOVERED_EVERY = 4
/** Flush threshold in characters within one turn of the event loop. */
const MAX_FOLLOWING = 65_536
const NAME = /^(?<machine>[0-9a-f]{12})-(?<pid>\d+)-(?<birth>\d*)-(?<token>[0-9a-f]{8})-(?<index>\d+)\.journal$/

export function fileJournal(options: FileJournalOptions): Journal {
  return new FolderJournal(options)
}

class FolderJournal implements Journal {
  readonly sha256 = (text: string) => hash('sha256', text, 'hex')
  readonly #dir: string
  readonly #fileBytes: number
  readonly #onDamage: NonNullable<FileJournalOptions['onDamage']>
  readonly #machine = machineOf()
  readonly #owner: string
  #index = 0
  /** The last file is the one that is written to. */
  #own: JournalFile[] = []
  #recovered: JournalFile[] = []
  #reads = 0
  #retry = false
  #heartbeatAt = 0
  #heartbeatTimer: ReturnType<typeof setInterval> | undefined
  /** Lines for the next write, which happens before the current turn of the event loop ends. */
  #following = ''
  #pendingFlush: NodeJS.Immediate | undefined

  constructor({ dir, fileBytes = FILE_BYTES, onDamage = () => {} }: FileJournalOptions) {
    this.#dir = dir
    this.#fileBytes = fileBytes
    this.#onDamage = onDamage
    const token = createHash('sha256').update(crypto.randomUUID()).digest('hex').slice(0, 8)
    this.#owner = [this.#machine, process.pid, startTimeOf(process.pid), token].join('-')
  }

  append(entry: AuditEntry): void {
    this.#write(`${this.#following}${JSON.stringify(entry)}\n`)
  }

  follow(entry: AuditEntry): void {
    this.#following += `${JSON.stringify(entry)}\n`
    if (this.#following.length > MAX_FOLLOWING) this.#write(this.#following)
    else this.#pendingFlush ??= setImmediate(() => this.#flushFollowing())
  }

  read(limit: number): JournalBatch | undefined {
    this.#flushFollowing()
    const recoveredFirst = ++this.#reads % RECOVERED_EVERY === 0
    const batch = recoveredFirst
      ? (this.#readFrom(this.#recovered, limit) ?? this.#readFrom(this.#own, limit))
      : (this.#readFrom(this.#own, limit) ?? this.#readFrom(this.#recovered, limit))
    this.#retry = batch !== undefined
    return batch
  }

  async recover(): Promise<number> {
    let recovered = 0
    for (const name of this.#names()) {
      const from = NAME.exec(name)?.groups
      if (!from || name.startsWith(this.#owner) || !this.#isDead(name, from)) continue
      const path = this.#newPath()
      try {
        // If the offset file is lost, the shipper looks up each entry in the database.
        renameSync(join(this.#dir, name), path)
        rename(join(this.#dir, `${name}.shipped`), `${path}.shipped`)
        this.#recovered.push(JournalFile.open(path))
        this.#startHeartbeat()
        recovered++
      } catch (error) {
        // Another process recovered the file first.
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw unavailable(this.#dir, error)
      }
    }
    return recovered
  }

  close(): void {
    this.#flushFollowing()
    clearInterval(this.#heartbeatTimer)
    for (const file of [...this.#own, ...this.#recovered]) {
      if (file.isShipped()) file.remove()
      else file.close()
    }
    this.#own = []
    this.#recovered = []
  }

  #write(lines: string): void {
    try {
      this.#current().append(lines)
      this.#following = ''
    } catch (cause) {
      throw unavailable(this.#dir, cause)
    }
  }

  /** Entries that cannot be written now are written with the next append. */
  #flushFollowing(): void {
    clearImmediate(this.#pendingFlush)
    this.#pendingFlush = undefined
    if (this.#following === '') return
    try {
      this.#write(this.#following)
    } catch {
      // The next `append` throws the error.
    }
  }

  #readFrom(files: JournalFile[], limit: number): JournalBatch | undefined {
    for (const file of [...files]) {
      const read = file.read(limit)
      if (read.lines > 0) return this.#batchOf(file, read, files === this.#own)
      if (file !== this.#own.at(-1)) this.#drop(file, files)
    }
    return undefined
  }

  #batchOf(file: JournalFile, read: ReadEntries, isOwn: boolean): JournalBatch {
    if (read.damaged > 0) this.#onDamage({ file: file.name, lines: read.damaged })
    return {
      entries: read.entries,
      own: isOwn ? read.lines : 0,
      maybeStored: !isOwn || this.#retry,
      shipped: () => {
        file.noteShipped(read.end)
        this.#retry = false
      },
    }
  }

  #drop(file: JournalFile, files: JournalFile[]): void {
    file.remove()
    files.splice(files.indexOf(file), 1)
  }

  #current(): JournalFile {
    const last = this.#own.at(-1)
    if (!last) return this.#next()
    if (last.size >= this.#fileBytes) return this.#next()
    // After a long pause another process may have taken the file over.
    if (performance.now() - this.#heartbeatAt > HEARTBEAT_MS * 2 && !this.#heartbeat(last)) return this.#next()
    return last
  }

  #next(): JournalFile {
    if (this.#own.length === 0) mkdirSync(this.#dir, { recursive: true, mode: 0o700 })
    const file = JournalFile.open(this.#newPath())
    this.#own.push(file)
    this.#heartbeatAt = performance.now()
    this.#startHeartbeat()
    return file
  }

  #startHeartbeat(): void {
    if (this.#heartbeatTimer !== undefined) return
    this.#heartbeatTimer = setInterval(() => {
      for (const file of [...this.#own, ...this.#recovered]) this.#heartbeat(file)
    }, HEARTBEAT_MS)
    this.#heartbeatTimer.unref()
  }

  /** Updates the heartbeat. Returns whether this process still owns the file. */
  #heartbeat(file: JournalFile): boolean {
    this.#heartbeatAt = performance.now()
    if (file.touch()) return true
    for (const files of [this.#own, this.#recovered]) if (files.includes(file)) files.splice(files.indexOf(file), 1)
    file.close()
    return false
  }

  #newPath(): string {
    return join(this.#dir, `${this.#owner}-${this.#index++}.journal`)
  }

  #names(): string[] {
    try {
      return readdirSync(this.#dir).sort()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
      throw unavailable(this.#dir, error)
    }
  }

  #isDead(name: string, { machine, pid, birth }: Record<string, string>): boolean {
    if (machine === this.#machine) return !isAlive(Number(pid), birth ?? '')
    const heartbeatAt = statSync(join(this.#dir, name), { throwIfNoEntry: false })?.mtimeMs
    return heartbeatAt !== undefined && Date.now() - heartbeatAt > STALE_MS
  }
}

function rename(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch {
    rmSync(from, { force: true })
  }
}

function isAlive(pid: number, birth: string): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
  }
  return startTimeOf(pid) === birth
}

// Only Linux provides the start time; elsewhere a live PID is sufficient.
function startTimeOf(pid: number): string {
  const stat = readOr('', () => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
}

/** Scope in which a PID identifies a process: this machine since boot, and this container. */
function machineOf(): string {
  const boot = readOr('', () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'))
  const space = readOr('', () => readlinkSync('/proc/self/ns/pid'))
  return createHash('sha256')
    .update(JSON.stringify([hostname(), boot, space]))
    .digest('hex')
    .slice(0, 12)
}

function readOr(fallback: string, read: () => string): string {
  try {
    return read()
  } catch {
    return fallback
  }
}

function unavailable(dir: string, cause: unknown): HostError {
  if (HostError.is(cause)) return cause
  const code = (cause as NodeJS.ErrnoException).code ?? 'unknown'
  const full = code === 'ENOSPC' || code === 'EDQUOT'
  return new HostError('audit-unavailable', {
    detail: full ? `The disk of the journal "${dir}" is full.` : `The journal "${dir}" cannot be written (${code}).`,
    ...(full ? { action: 'Make room on that disk; nothing is called until what is called can be recorded.' } : {}),
    cause,
  })
}
