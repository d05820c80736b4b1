import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { memoryClass } from '../sandbox/limits.ts'
import { boundedBinary } from './patch-wasm.ts'

const wasm = readFileSync(fileURLToPath(import.meta.resolve('quickjs-wasi/quickjs.wasm')))
const MiB = 1024 * 1024

function memoryOf(binary: Uint8Array<ArrayBuffer>): WebAssembly.Memory {
  const module = new WebAssembly.Module(binary)
  const imports: Record<string, Record<string, () => number>> = {}
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    imports[from] ??= {}
    imports[from][name] = () => 0
  }
  return new WebAssembly.Instance(module, imports).exports.memory as WebAssembly.Memory
}

describe('the engine binary', () => {
  it('cannot exceed its memory maximum after patching', () => {
    const bounded = memoryOf(boundedBinary(wasm, 16 * MiB))
    const room = (16 * MiB - bounded.buffer.byteLength) / 65_536
    expect(() => bounded.grow(room)).not.toThrow()
    expect(() => bounded.grow(1)).toThrow(RangeError)
    expect(() => memoryOf(new Uint8Array(wasm)).grow((32 * MiB) / 65_536)).not.toThrow()
  })

  it('is rejected if it is a different binary', () => {
    const other = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0)
    expect(() => boundedBinary(other, MiB)).toThrow(TypeError)
  })

  it('has few memory sizes, each larger than the engine limit', () => {
    const sizes = new Set([1, 2, 8, 16, 48, 64, 65, 100, 128, 256, 1000].map((n) => memoryClass(n * MiB) / MiB))
    expect([...sizes]).toEqual([16, 32, 64, 128, 256, 512, 2048])
    for (const n of [1, 10, 100, 1000]) expect(memoryClass(n * MiB)).toBeGreaterThan(n * MiB)
  })
})
