/** One journal file: appended by its process and read from the shipped offset. Torn lines are skipped. */
import { closeSync, fstatSync, ftruncateSync, futimesSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { basename } from 'node:path'
import { type AuditEntry, auditEntry } from '../entry.ts'

export interface ReadEntries {
  entries: AuditEntry[]
  /** Number of lines read, including damaged ones. */
  lines: number
  damaged: number
  /** Offset of the next read, once these entries are shipped. */
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
  /** A partial write could not be truncated: the next write starts a new line. */
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
      // A full disk accepts a part of the write; the second attempt provides the error.
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
    // A foreign line that is longer than the read buffer must not block later entries.
    if (!bytes.includes(LINE_END)) bytes = readAt(this.#fd, this.#shipped, this.#size - this.#shipped)
    for (let start = 0; start < bytes.length && result.lines < limit; ) {
      const lineEnd = bytes.indexOf(LINE_END, start)
      // At the end of the file, a rest without a line end is torn; in the middle, it is read next time.
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
      // Fixed length, so that an overwrite never leaves digits of an older offset.
      writeSync(this.#note, String(this.#shipped).padStart(NOTE_DIGITS, '0'), 0)
    } catch {
      // Without the offset file, the next process looks up each entry in the database; nothing is stored twice.
    }
  }

  /** Updates the heartbeat. Returns false if another process took the file over. */
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
    // A partial offset would point into a line.
    return note.length === NOTE_DIGITS && /^\d+$/.test(note) ? Number(note) : 0
  } catch {
    return 0
  }
}

/** Whether the path still refers to the open file. */
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
