/** Of a stack, the program's own lines. */
import { PROGRAM_FILE } from './sandbox-protocol.ts'

/** On the program's first line, so that its lines are counted as it counts them. */
export const BODY_HEAD = '(async()=>{"use strict";'
export const BODY_TAIL = '\n})'
export const bodyOf = (source: string) => `${BODY_HEAD}${source}${BODY_TAIL}`

const MOST_FRAMES = 20
const FRAME = new RegExp(`^\\s*at (.*?)\\(?${PROGRAM_FILE}:(\\d+)(?::(\\d+))?\\)?$`)

export function ownStack(stack: string, lines: number): string | undefined {
  const frames = stack.split('\n').flatMap((text) => {
    const [, name = '', line = '', column] = FRAME.exec(text) ?? []
    if (line === '') return []
    const row = Math.min(Number(line), lines)
    const place = Number(column ?? 1) - (row === 1 ? BODY_HEAD.length : 0)
    return `at ${name.trim() || '<anonymous>'} (${PROGRAM_FILE}:${row}:${Math.max(1, place)})`
  })
  return frames.length === 0 ? undefined : frames.slice(0, MOST_FRAMES).join('\n')
}

export const lineOf = (stack: string | undefined): number | undefined => {
  const line = stack?.match(new RegExp(`${PROGRAM_FILE}:(\\d+)`))?.[1]
  return line === undefined ? undefined : Number(line)
}
