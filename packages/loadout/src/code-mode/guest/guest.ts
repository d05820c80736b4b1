/**
 * Guest side of a sandbox in a thread or Web Worker: keeps an engine ready, runs one program at a time and resets it
 * afterwards. It communicates by messages only.
 */

import { DEFAULT_PROGRAM_LIMITS, memoryClass } from '../sandbox/limits.ts'
import type { RunRequest, ToSandbox } from '../sandbox/protocol.ts'
import { createEngine, type EngineHooks, type GuestEngine } from './engine.ts'
import { boundedBinary } from './patch-wasm.ts'
import { type GuestIo, GuestRun } from './run.ts'

export interface GuestOptions extends GuestIo {
  wasm: Uint8Array
  /** Precompiled module for the default limits. */
  module?: WebAssembly.Module | undefined
  /** Stack size of the engine. The thread's stack must be several times larger. */
  stackBytes: number
}

interface Slot {
  size: number
  engine: GuestEngine
}

const IDLE: EngineHooks = { interrupted: () => false, onHostCall() {}, outOfMemory() {}, now: () => 0 }
const USUAL = memoryClass(DEFAULT_PROGRAM_LIMITS.memoryBytes)

export function createGuest(options: GuestOptions) {
  const modules = new Map<number, WebAssembly.Module>()
  if (options.module) modules.set(USUAL, options.module)
  let hooks = IDLE
  let run: GuestRun | undefined

  const moduleOf = (size: number) => {
    const module = modules.get(size) ?? new WebAssembly.Module(boundedBinary(options.wasm, size))
    modules.set(size, module)
    return module
  }
  const open = (size: number): Slot => {
    const forward: EngineHooks = {
      interrupted: () => hooks.interrupted(),
      onHostCall: (kind, args) => hooks.onHostCall(kind, args),
      outOfMemory: () => hooks.outOfMemory(),
      now: () => hooks.now(),
    }
    return { size, engine: createEngine(moduleOf(size), options.stackBytes, forward) }
  }
  let slot = open(USUAL)

  const renew = () => {
    const again = (run?.clean() ?? true) && slot.size === USUAL
    hooks = IDLE
    run = undefined
    if (!again || !slot.engine.reset()) slot = open(USUAL)
    options.post({ type: 'ready', threadMs: options.threadMs?.() })
  }
  const begin = (request: RunRequest) => {
    const size = memoryClass(request.limits.memoryBytes)
    if (slot.size !== size) slot = open(size)
    run = new GuestRun(request, slot.engine, options)
    hooks = run
    run.begin()
  }

  options.post({ type: 'ready', threadMs: options.threadMs?.() })
  return {
    receive(message: ToSandbox): void {
      if (message.type === 'run') begin(message.run)
      else if (message.type === 'stop') renew()
      // Late replies to an ended program are ignored.
      else if (run && !run.over()) run.answers(message.answers)
    },
  }
}
