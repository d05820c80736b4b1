/** Exports of the engine binary, and string transfer to and from its memory. */

export interface Exports {
  memory: WebAssembly.Memory
  __stack_pointer: WebAssembly.Global
  _initialize(): void
  qjs_init2(intrinsics: number): number
  qjs_set_memory_limit(bytes: number): void
  qjs_set_max_stack_size(bytes: number): void
  qjs_set_interrupt_handler(on: number): void
  qjs_eval(code: number, length: number, file: number, flags: number): number
  qjs_call(fn: number, self: number, argc: number, argv: number): number
  qjs_new_host_function(name: number, length: number, argc: number): number
  qjs_new_string(text: number, length: number): number
  qjs_new_number(value: number): number
  qjs_get_undefined(): number
  qjs_get_global(): number
  qjs_get_float64(value: number): number
  qjs_get_string_len(value: number, length: number): number
  qjs_free_cstring(text: number): void
  qjs_get_prop_string(object: number, name: number): number
  qjs_set_prop_string(object: number, name: number, value: number): number
  qjs_is_exception(value: number): number
  qjs_is_string(value: number): number
  qjs_is_object(value: number): number
  qjs_get_exception(): number
  qjs_dup_value(value: number): number
  qjs_free_value(value: number): void
  qjs_is_job_pending(): number
  qjs_execute_pending_job(): number
  wasm_malloc(bytes: number): number
  wasm_free(at: number): void
}

/** The engine has no memory left, even for an argument. */
export class NoMemory extends Error {}

export interface Sized {
  text: string
  bytes: number
}

export const NOTHING: Sized = { text: '', bytes: 0 }
const SHORT = 1000

export type Strings = ReturnType<typeof memoryOf>

/** Reads and writes strings and address lists in engine memory. */
export function memoryOf(exports: Exports, scratch: { at: number }) {
  const encoder = new TextEncoder()
  const decoder = new TextDecoder()
  let bytes = new Uint8Array(exports.memory.buffer)
  let view = new DataView(exports.memory.buffer)
  /** Growing the memory replaces its buffer. */
  const refresh = () => {
    if (bytes.buffer === exports.memory.buffer) return
    bytes = new Uint8Array(exports.memory.buffer)
    view = new DataView(exports.memory.buffer)
  }
  const write = (text: string) => {
    // Short texts are encoded in place, with room for the worst case.
    const encoded = text.length > SHORT ? encoder.encode(text) : undefined
    const at = exports.wasm_malloc((encoded?.length ?? text.length * 3) + 1)
    if (at === 0) throw new NoMemory()
    refresh()
    if (encoded) bytes.set(encoded, at)
    const length = encoded?.length ?? encoder.encodeInto(text, bytes.subarray(at, at + text.length * 3)).written
    bytes[at + length] = 0
    return { at, length }
  }
  /** Non-strings read as empty, because converting them would run program code. */
  const sized = (value: number): Sized => {
    if (exports.qjs_is_string(value) === 0) return NOTHING
    const at = exports.qjs_get_string_len(value, scratch.at)
    if (at === 0) throw new NoMemory()
    refresh()
    const length = view.getUint32(scratch.at, true)
    const text = decoder.decode(bytes.subarray(at, at + length))
    exports.qjs_free_cstring(at)
    return { text, bytes: length }
  }
  return {
    write,
    make(text: string): number {
      const { at, length } = write(text)
      const value = exports.qjs_new_string(at, length)
      exports.wasm_free(at)
      if (exports.qjs_is_exception(value) !== 0) throw new NoMemory()
      return value
    },
    sized,
    read: (value: number) => sized(value).text,
    list(addresses: readonly number[]): number {
      refresh()
      addresses.forEach((address, index) => {
        view.setUint32(scratch.at + 4 + index * 4, address, true)
      })
      return scratch.at + 4
    },
    addressAt(list: number, index: number): number {
      refresh()
      return view.getUint32(list + index * 4, true)
    },
  }
}
