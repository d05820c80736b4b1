/** One file of a journal: appended to by its process, read from where the last shipment ended, a torn line passed over. */
import { closeSync, fstatSync, ftruncateSync, futimesSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { basename } from 'node:path'
import { type AuditEntry, auditEntry } from '../entry.ts'

export interface ReadEntries {
  entries: AuditEntry[]
  /** How many lines were read, the damaged ones counted. */
  lines: number
  damaged: number
  /** Where the next reading begins, once these are shipped. */
  end: number
}

const READ_BYTES = 1024 * 1024
const LINE_END = 0x0a
const NOTE_DIGITS = 16

export class JournalFile {
  readonly name: string
  readonly #path: string
  readonly #fd: number
  #note: number | undefined
  #size: number
  #shipped: number
  /** A write was cut off and could not be taken back: the next begins a line of its own. */
  #torn = false

  private constructor(path: string, fd: number) {
    this.#path = path
    this.name = basename(path)
    this.#fd = fd
    this.#size = fstatSync(fd).size
    this.#shipped = Math.min(readNote(`${path}.shipped`), this.#size)
  }

  static open(path: string): JournalFile {
    return new JournalFile(path, openSync(path, 'a+', 0o600))
  }

  get size(): number {
    return this.#size
  }

  isShipped(): boolean {
    return this.#shipped >= this.#size
  }

  append(line: string): void {
    const text = this.#torn ? `\n${line}` : line
    const bytes = Buffer.byteLength(text)
    const written = this.#write(text, bytes)
    this.#torn = false
    this.#size += written
  }

  #write(text: string, bytes: number): number {
    let written = 0
    try {
      written = writeSync(this.#fd, text)
      // A disk that fills up takes a part; the rest is tried once more, for the error that says why.
      if (written < bytes) written += writeSync(this.#fd, Buffer.from(text).subarray(written))
      if (written < bytes) throw Object.assign(new Error('The line was cut off.'), { code: 'ENOSPC' })
      return written
    } catch (error) {
      if (written > 0) this.#undoWrite(written)
      throw error
    }
  }

  #undoWrite(written: number): void {
    try {
      ftruncateSync(this.#fd, this.#size)
    } catch {
      this.#torn = true
      this.#size += written
    }
  }

  read(limit: number): ReadEntries {
    const result: ReadEntries = { entries: [], lines: 0, damaged: 0, end: this.#shipped }
    const length = Math.min(READ_BYTES, this.#size - this.#shipped)
    if (length <= 0) return result
    let bytes = readAt(this.#fd, this.#shipped, length)
    // A line longer than a reading is not ours, but must not stop what comes after it.
    if (!bytes.includes(LINE_END)) bytes = readAt(this.#fd, this.#shipped, this.#size - this.#shipped)
    for (let start = 0; start < bytes.length && result.lines < limit; ) {
      const lineEnd = bytes.indexOf(LINE_END, start)
      // The rest of a whole file that has no end of line is a torn line; the rest of a reading is read next time.
      if (lineEnd < 0 && this.#shipped + bytes.length < this.#size) break
      const stop = lineEnd < 0 ? bytes.length : lineEnd
      if (stop > start) addLine(result, bytes.toString('utf8', start, stop))
      start = stop + 1
      result.end = Math.min(this.#shipped + start, this.#size)
    }
    return result
  }

  noteShipped(end: number): void {
    this.#shipped = Math.max(this.#shipped, end)
    try {
      this.#note ??= openSync(`${this.#path}.shipped`, 'w', 0o600)
      // Of one length, so that a note is never half of an old one.
      writeSync(this.#note, String(this.#shipped).padStart(NOTE_DIGITS, '0'), 0)
    } catch {
      // Without it the next process looks for each line in the database; nothing is stored twice.
    }
  }

  /** Shows that its process lives; false where it was taken away from it. */
  touch(): boolean {
    const now = new Date()
    try {
      futimesSync(this.#fd, now, now)
      return isSameFile(this.#fd, this.#path)
    } catch {
      return false
    }
  }

  close(): void {
    closeSync(this.#fd)
    if (this.#note !== undefined) closeSync(this.#note)
  }

  remove(): void {
    this.close()
    rmSync(this.#path, { force: true })
    rmSync(`${this.#path}.shipped`, { force: true })
  }
}

function addLine(result: ReadEntries, line: string): void {
  result.lines++
  const entry = parseLine(line)
  if (entry) result.entries.push(entry)
  else result.damaged++
}

function parseLine(line: string): AuditEntry | undefined {
  try {
    return auditEntry.parse(JSON.parse(line))
  } catch {
    return undefined
  }
}

function readAt(fd: number, position: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length)
  return bytes.subarray(0, readSync(fd, bytes, 0, length, position))
}

function readNote(path: string): number {
  try {
    const fd = openSync(path, 'r')
    const note = readAt(fd, 0, NOTE_DIGITS).toString('utf8')
    closeSync(fd)
    // Half a note would be a place inside a line.
    return note.length === NOTE_DIGITS && /^\d+$/.test(note) ? Number(note) : 0
  } catch {
    return 0
  }
}

/** Whether the path still names the file that is open. */
function isSameFile(fd: number, path: string): boolean {
  const open = fstatSync(fd)
  let pathFd: number
  try {
    pathFd = openSync(path, 'r')
  } catch {
    return false
  }
  const { ino, dev } = fstatSync(pathFd)
  closeSync(pathFd)
  return open.ino === ino && open.dev === dev
}
