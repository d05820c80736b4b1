/** Which file imports which, read from the sources. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))
export const LIBRARY = join(ROOT, 'packages/loadout/src')

const FROM = /(?:^|\n)\s*(?:import|export)\s[^'"`;]*?\sfrom\s*['"]([^'"]+)['"]/g
const BARE = /(?:^|\n)\s*import\s*['"]([^'"]+)['"]/g
const DYNAMIC = /\bimport\(\s*['"]([^'"]+)['"]/g

export interface SourceFile {
  /** From the folder that was read, with forward slashes. */
  path: string
  text: string
  /** As written. */
  imports: string[]
}

const isTest = (path: string) => /\.(test|test-d)\.tsx?$|(^|\/)test\/fixtures\//.test(path)

export function sourcesIn(folder: string, { tests = false } = {}): SourceFile[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path) && !/(^|\/)(node_modules|dist)\//.test(path) && (tests || !isTest(path)))
    .map((path) => {
      const text = readFileSync(join(folder, path), 'utf8')
      const imports = [FROM, BARE, DYNAMIC].flatMap((pattern) =>
        [...text.matchAll(pattern)].map((match) => match[1] as string),
      )
      return { path: path.replaceAll('\\', '/'), text, imports }
    })
}

/** The file that a relative import means, from the same folder. */
export function target(folder: string, from: string, specifier: string): string {
  return relative(folder, resolve(folder, dirname(from), specifier)).replaceAll('\\', '/')
}

/** The first ring of imports, or undefined. */
export function findCycle(folder: string, files: SourceFile[]): string[] | undefined {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const done = new Set<string>()
  const visit = (path: string, trail: string[]): string[] | undefined => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path]
    if (done.has(path)) return undefined
    for (const specifier of byPath.get(path)?.imports ?? []) {
      const found = specifier.startsWith('.') ? visit(target(folder, path, specifier), [...trail, path]) : undefined
      if (found) return found
    }
    done.add(path)
    return undefined
  }
  for (const { path } of files) {
    const found = visit(path, [])
    if (found) return found
  }
  return undefined
}
