/**
 * Patches the engine binary in two places before it is compiled:
 *
 * - A memory maximum, so that the WebAssembly runtime refuses to grow it further.
 * - A host call where the engine throws "out of memory": a program can catch the exception, but not hide that it
 *   reached the limit.
 *
 * quickjs-wasi exports its memory instead of importing it, so the binary must be rewritten.
 */

/** File descriptor that signals out-of-memory in `fd_close`; there are no files. */
export const OUT_OF_MEMORY_FD = 77

const PAGE = 65_536
const IMPORTS = 2
const MEMORY = 5
const EXPORTS = 7
const CODE = 10
const HEADER_BYTES = 8
const FUNCTION = 0

interface Section {
  id: number
  body: Uint8Array
}

export function boundedBinary(bytes: Uint8Array, maxBytes: number): Uint8Array<ArrayBuffer> {
  const sections = readSections(bytes)
  const body = (id: number) => {
    const found = sections.find((section) => section.id === id)
    if (!found) throw new TypeError('The WebAssembly of the engine is not the one that is known.')
    return found.body
  }
  const imported = functionImports(body(IMPORTS))
  const close = imported.indexOf('fd_close')
  const thrower = exportedFunction(body(EXPORTS), 'JS_ThrowOutOfMemory') - imported.length
  if (close < 0 || thrower < 0) throw new TypeError('The WebAssembly of the engine is not the one that is known.')
  // i32.const, call, drop
  const tell = [0x41, ...signed(OUT_OF_MEMORY_FD), 0x10, ...unsigned(close), 0x1a]
  const changed = sections.map(({ id, body }) => {
    if (id === MEMORY) return { id, body: withMaximum(body, Math.ceil(maxBytes / PAGE)) }
    return id === CODE ? { id, body: withPrologue(body, thrower, tell) } : { id, body }
  })
  return joined([
    bytes.subarray(0, HEADER_BYTES),
    ...changed.flatMap(({ id, body }) => [Uint8Array.of(id, ...unsigned(body.length)), body]),
  ])
}

function readSections(bytes: Uint8Array): Section[] {
  const read = reader(bytes, HEADER_BYTES)
  const sections: Section[] = []
  while (!read.done()) sections.push({ id: read.byte(), body: read.take(read.number()) })
  return sections
}

function functionImports(body: Uint8Array): string[] {
  const read = reader(body)
  const names: string[] = []
  for (let left = read.number(); left > 0; left--) {
    read.text()
    const name = read.text()
    if (read.byte() !== FUNCTION) throw new TypeError('The engine imports something that is no function.')
    read.number()
    names.push(name)
  }
  return names
}

function exportedFunction(body: Uint8Array, wanted: string): number {
  const read = reader(body)
  for (let left = read.number(); left > 0; left--) {
    const name = read.text()
    const kind = read.byte()
    const index = read.number()
    if (name === wanted && kind === FUNCTION) return index
  }
  return -1
}

function withMaximum(body: Uint8Array, pages: number): Uint8Array {
  const read = reader(body)
  const memories = read.number()
  const flags = read.byte()
  const initial = read.number()
  if (memories !== 1 || flags !== 0) throw new TypeError('The memory of the engine is not as it is known.')
  return Uint8Array.of(1, 1, ...unsigned(initial), ...unsigned(Math.max(initial, pages)))
}

/** Inserts instructions at the start of one function. */
function withPrologue(body: Uint8Array, index: number, instructions: readonly number[]): Uint8Array {
  const read = reader(body)
  const count = read.number()
  for (let i = 0; i < index; i++) read.take(read.number())
  const before = body.subarray(0, read.at())
  const own = read.take(read.number())
  const locals = reader(own)
  for (let left = locals.number(); left > 0; left--) {
    locals.number()
    locals.byte()
  }
  if (count <= index) throw new TypeError('The engine has fewer functions than it says.')
  const head = own.subarray(0, locals.at())
  const tail = own.subarray(locals.at())
  const size = unsigned(own.length + instructions.length)
  return joined([before, Uint8Array.from(size), head, Uint8Array.from(instructions), tail, body.subarray(read.at())])
}

function reader(bytes: Uint8Array, from = 0) {
  let at = from
  const byte = () => bytes[at++] ?? 0
  const number = () => {
    let value = 0
    let shift = 0
    let next = 0
    do {
      next = byte()
      value |= (next & 0x7f) << shift
      shift += 7
    } while (next & 0x80)
    return value >>> 0
  }
  const take = (length: number) => {
    at += length
    return bytes.subarray(at - length, at)
  }
  return { byte, number, take, at: () => at, done: () => at >= bytes.length, text: () => text(take(number())) }
}

const text = (bytes: Uint8Array) => String.fromCharCode(...bytes)

function unsigned(value: number): number[] {
  const bytes: number[] = []
  let left = value
  while (left > 0x7f) {
    bytes.push((left & 0x7f) | 0x80)
    left >>>= 7
  }
  return [...bytes, left]
}

/** Signed LEB128 of a small positive number; a set sixth bit needs a second byte. */
const signed = (value: number) => (value & 0x40 ? [(value & 0x7f) | 0x80, 0] : unsigned(value))

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
