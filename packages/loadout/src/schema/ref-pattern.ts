/** A toolkit (`github`), a tool (`github.delete_repo`) or a glob over them, ready to be held against tools. */
import { compileGlob, type Glob } from './glob.ts'

export interface RefPattern {
  toolkit: Glob
  /** Undefined where the whole toolkit is meant. */
  tool: Glob | undefined
  matches(toolkit: string, tool: string): boolean
}

/** The first dot divides: a toolkit's id has none, and a tool's own dots stay its own. */
export function compileRef(ref: string): RefPattern {
  const dot = ref.indexOf('.')
  const toolkit = compileGlob(dot < 0 ? ref : ref.slice(0, dot))
  const tool = dot < 0 ? undefined : compileGlob(ref.slice(dot + 1))
  return { toolkit, tool, matches: (kit, name) => toolkit.matches(kit) && (tool?.matches(name) ?? true) }
}
