import { isRecord, type JsonRecord } from './keywords.ts'

/** Number of schemas with all references expanded, cycles once; undefined above the limit. */
export function expandedSize(schema: JsonRecord, limit: number): number | undefined {
  const defs = isRecord(schema.$defs) ? schema.$defs : {}
  const sizes = new Map<string, number>()
  const open = new Set<string>()

  const sizeOf = (value: unknown): number => {
    if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + sizeOf(item), 0)
    if (!isRecord(value)) return 0
    const inner = Object.entries(value).reduce((sum, [key, item]) => {
      if (key === '$defs' || key === 'default' || key === 'enum' || key === 'const' || key === 'examples') return sum
      return sum + (key === '$ref' ? sizeOfRef(String(item)) : sizeOf(item))
    }, 1)
    return Math.min(inner, limit + 1)
  }
  const sizeOfRef = (ref: string): number => {
    const name = ref.slice('#/$defs/'.length)
    const cached = sizes.get(name)
    if (cached !== undefined) return cached
    if (open.has(name)) return 1
    open.add(name)
    const size = sizeOf(defs[name])
    open.delete(name)
    sizes.set(name, size)
    return size
  }

  const size = sizeOf(schema)
  return size > limit ? undefined : size
}
