import { statSync } from 'node:fs'
import { dirname } from 'node:path'

/** Whether everybody may enter the folder or run the program, and reach it. */
export function othersMayUse(path: string): boolean {
  const may = (statSync(path).mode & 0o001) !== 0
  return may && (dirname(path) === path || othersMayUse(dirname(path)))
}
