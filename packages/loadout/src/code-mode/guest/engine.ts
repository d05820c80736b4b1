/**
 * QuickJS through the exports of the quickjs-wasi binary. quickjs-emscripten does not count buffers in `setMemoryLimit`
 * and needs 7 ms or more per fresh module; the classes of quickjs-wasi need 1.5 to 5 ms. With the bare exports, a reset
 * restores the memory of an instance in 0.1 ms. An instance has no other mutable state: its only global is the stack
 * pointer, and its function table is fixed.
 *
 * Values are addresses in that memory; the caller frees them. Strings are copied in and out.
 */

import { type Exports, memoryOf, NOTHING, type Sized, type Strings } from './memory.ts'
import { OUT_OF_MEMORY_FD } from './patch-wasm.ts'
import { GUEST, GUEST_FILE } from './prelude.ts'

export interface EngineHooks {
  /** Polled while a program computes; true ends it with an uncatchable error. */
  interrupted(): boolean
  /** Called by the guest. The arguments are valid until it returns. */
  onHostCall(kind: number, read: HostCallArguments): void
  /** Called when memory ran out. */
  outOfMemory(): void
  /** Program time in ms. */
  now(): number
}

export interface HostCallArguments {
  text(index: number): string
  /** Text with its UTF-8 length. */
  sized(index: number): Sized
  number(index: number): number
}

/** Result of guest code. */
export type Outcome = { value: number } | { thrown: Thrown }

export interface Thrown {
  name: string
  message: string
  stack: string
}

/** All intrinsics except those that reveal time or garbage collection: WeakRef, performance. */
const INTRINSICS = ~((1 << 9) | (1 << 10))
const MAX_ARGUMENTS = 8
const MAX_LIMIT = 0x7fff_0000
const ROOM_BYTES = 4 * 1024 * 1024
const PAGE_BYTES = 65_536

export type GuestEngine = ReturnType<typeof createEngine>

export function createEngine(module: WebAssembly.Module, stackBytes: number, hooks: EngineHooks) {
  const exports = instantiate(module, hooks, () => memoryOf(exports, scratch))
  const scratch = { at: 0 }
  exports._initialize()
  if (exports.qjs_init2(INTRINSICS) !== 0) throw new TypeError('The engine did not start.')
  exports.qjs_set_max_stack_size(stackBytes)
  exports.qjs_set_interrupt_handler(1)
  // Scratch memory: one word for lengths, then argument addresses.
  scratch.at = exports.wasm_malloc(4 * (1 + MAX_ARGUMENTS))
  const undefinedAt = exports.qjs_get_undefined()
  const strings = memoryOf(exports, scratch)
  const enter = boot(exports, strings)
  const image = takeImage(exports)

  const outcomeOf = (result: number): Outcome =>
    exports.qjs_is_exception(result) === 0 ? { value: result } : { thrown: takeThrown(exports, strings) }

  return {
    memoryBytes: () => exports.memory.buffer.byteLength,
    limitMemory: (bytes: number) => exports.qjs_set_memory_limit(Math.min(bytes, MAX_LIMIT)),

    /** Evaluates code; the caller frees the value. */
    evaluate(code: string, file: string): Outcome {
      const source = strings.write(code)
      const name = strings.write(file)
      const result = exports.qjs_eval(source.at, source.length, name.at, 0)
      exports.wasm_free(source.at)
      exports.wasm_free(name.at)
      return outcomeOf(result)
    },

    /** Calls the guest's entry point and returns its number. */
    enter(kind: number, ...args: readonly (string | number | { value: number })[]): Outcome | { number: number } {
      const values = [kind, ...args].map((arg) =>
        typeof arg === 'object' ? arg.value : typeof arg === 'number' ? exports.qjs_new_number(arg) : strings.make(arg),
      )
      const argv = strings.list(values)
      const outcome = outcomeOf(exports.qjs_call(enter, undefinedAt, values.length, argv))
      for (const value of values) exports.qjs_free_value(value)
      if (!('value' in outcome)) return outcome
      const number = exports.qjs_get_float64(outcome.value)
      exports.qjs_free_value(outcome.value)
      return { number }
    },

    /** Runs one pending job; false if there is none. */
    runJob(): boolean {
      if (exports.qjs_is_job_pending() === 0) return false
      if (exports.qjs_execute_pending_job() < 0) exports.qjs_free_value(exports.qjs_get_exception())
      return true
    },

    /** Restores the initial state; false if the memory grew, which cannot be undone. */
    reset(): boolean {
      const memory = new Uint8Array(exports.memory.buffer)
      if (memory.length !== image.size) return false
      memory.fill(0)
      for (const { at, bytes } of image.pages) memory.set(bytes, at)
      exports.__stack_pointer.value = image.stack
      return true
    },
  }
}

/** Snapshot of an instance; empty pages are not stored. */
function takeImage(exports: Exports) {
  // Preallocates free memory: growing is slow, and a grown instance cannot be reset.
  exports.wasm_free(exports.wasm_malloc(ROOM_BYTES))
  const memory = new Uint8Array(exports.memory.buffer)
  const pages: { at: number; bytes: Uint8Array }[] = []
  for (let at = 0; at < memory.length; at += PAGE_BYTES) {
    if (hasAny(new Int32Array(memory.buffer, at, PAGE_BYTES / 4)))
      pages.push({ at, bytes: memory.slice(at, at + PAGE_BYTES) })
  }
  return { size: memory.length, pages, stack: exports.__stack_pointer.value }
}

const BAD_FILE = 8

function instantiate(module: WebAssembly.Module, hooks: EngineHooks, strings: () => Strings): Exports {
  let cachedStrings: Strings | undefined
  const env = {
    // Arguments: function name and its length, `this`, argc, argv.
    host_call(...[, , , argc = 0, argv = 0]: number[]) {
      cachedStrings ??= strings()
      const { sized, addressAt } = cachedStrings
      const at = (index: number) => addressAt(argv, index)
      hooks.onHostCall(argc === 0 ? -1 : exports.qjs_get_float64(at(0)), {
        text: (index) => (index < argc ? sized(at(index)).text : ''),
        sized: (index) => (index < argc ? sized(at(index)) : NOTHING),
        number: (index) => (index < argc ? exports.qjs_get_float64(at(index)) : Number.NaN),
      })
      return exports.qjs_get_undefined()
    },
    host_interrupt: () => (hooks.interrupted() ? 1 : 0),
    host_promise_rejection() {},
    // Modules are not supported.
    host_module_normalize: () => 0,
    host_module_load: () => 0,
    host_get_timezone_offset: () => 0,
  }
  const wasi = {
    clock_time_get(_clock: number, _precision: bigint, at: number) {
      const view = new DataView(exports.memory.buffer)
      view.setBigUint64(at, BigInt(Math.trunc(hooks.now())) * 1_000_000n, true)
      return 0
    },
    fd_close(fd: number) {
      if (fd === OUT_OF_MEMORY_FD) hooks.outOfMemory()
      return BAD_FILE
    },
    fd_fdstat_get: () => BAD_FILE,
    fd_seek: () => BAD_FILE,
    fd_write: () => BAD_FILE,
    // Randomness inside derives from the seed only.
    random_get: (at: number, length: number) => {
      new Uint8Array(exports.memory.buffer, at, length).fill(0)
      return 0
    },
  }
  const instance = new WebAssembly.Instance(module, { env, wasi_snapshot_preview1: wasi })
  const exports = instance.exports as unknown as Exports
  return exports
}

/** True if a word is not zero. A plain loop, because it scans megabytes per engine. */
function hasAny(words: Int32Array): boolean {
  for (let i = 0; i < words.length; i++) if (words[i] !== 0) return true
  return false
}

/** Installs the guest prelude and returns its entry point. */
function boot(exports: Exports, strings: Strings): number {
  const name = strings.write('hostCall')
  const hostCall = exports.qjs_new_host_function(name.at, name.length, 0)
  const global = exports.qjs_get_global()
  exports.qjs_set_prop_string(global, name.at, hostCall)
  for (const value of [hostCall, global]) exports.qjs_free_value(value)
  const source = strings.write(GUEST)
  const file = strings.write(GUEST_FILE)
  const enter = exports.qjs_eval(source.at, source.length, file.at, 0)
  for (const { at } of [name, source, file]) exports.wasm_free(at)
  if (exports.qjs_is_exception(enter) !== 0) throw new TypeError('The guest did not start.')
  return enter
}

function takeThrown(exports: Exports, strings: Strings): Thrown {
  const thrown = exports.qjs_get_exception()
  const read = (name: string) => propertyOf(exports, strings, { object: thrown, name })
  const result =
    exports.qjs_is_object(thrown) === 0
      ? { name: '', message: strings.read(thrown), stack: '' }
      : { name: read('name'), message: read('message'), stack: read('stack') }
  exports.qjs_free_value(thrown)
  return result
}

function propertyOf(exports: Exports, strings: Strings, { object, name }: { object: number; name: string }): string {
  const key = strings.write(name)
  const value = exports.qjs_get_prop_string(object, key.at)
  const text = strings.read(value)
  exports.qjs_free_value(value)
  exports.wasm_free(key.at)
  return text
}
