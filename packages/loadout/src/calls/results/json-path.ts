/**
 * Selects a part of a JSON text by path: `$.items[0].name`, `$["a b"]`, `$.items[*].id`, `$.items[0:10]`. A subset of
 * RFC 9535 without filters, functions and descent, so that a path costs no more than its selection.
 */

import { HostError } from '../../errors.ts'
import { isObject } from '../../util/is-object.ts'

export type Step =
  | { kind: 'name'; name: string }
  | { kind: 'index'; index: number }
  | { kind: 'all' }
  | { kind: 'slice'; from: number | undefined; to: number | undefined }

const MAX_STEPS = 50
const MAX_SELECTED = 100_000
const MAX_PATH = 1000

/** The selection as JSON; several values as a list. */
export function selectPath(text: string, path: string): string {
  const steps = readPath(path)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw notJson()
  }
  return select(value, steps)
}

export const notJson = () => invalid('the result is not JSON; read it by page or by line')

export function select(value: unknown, steps: readonly Step[]): string {
  const many = steps.some(({ kind }) => kind === 'all' || kind === 'slice')
  let selected: unknown[] = [value]
  for (const step of steps) {
    selected = selected.flatMap((item) => take(item, step))
    if (selected.length > MAX_SELECTED) throw invalid(`it selects more than ${MAX_SELECTED} values`)
  }
  if (!many && selected.length === 0) throw invalid('there is nothing at that place')
  return JSON.stringify(many ? selected : selected[0], undefined, 2)
}

function take(value: unknown, step: Step): unknown[] {
  if (step.kind === 'name') return isObject(value) && Object.hasOwn(value, step.name) ? [value[step.name]] : []
  if (step.kind === 'all') return Array.isArray(value) ? value : isObject(value) ? Object.values(value) : []
  if (!Array.isArray(value)) return []
  if (step.kind === 'slice') return value.slice(step.from, step.to)
  const found = value.at(step.index)
  return found === undefined ? [] : [found]
}

const STEP =
  /\.\*|\.([A-Za-z_$][\w$-]*)|\[\*\]|\[(-?\d+)\]|\[(-?\d*):(-?\d*)\]|\["((?:[^"\\]|\\.)*)"\]|\['((?:[^'\\]|\\.)*)'\]/y

/** `invalid-input` with the position of the syntax error. */
export function readPath(path: string): Step[] {
  if (path.length > MAX_PATH) throw invalid(`it is longer than ${MAX_PATH} characters`)
  const text = path.trim()
  const whole = text.startsWith('$') ? text : `$.${text}`
  const pattern = new RegExp(STEP.source, 'y')
  const steps: Step[] = []
  for (let at = 1; at < whole.length; at = pattern.lastIndex) {
    pattern.lastIndex = at
    const match = pattern.exec(whole)
    const step = match && steps.length < MAX_STEPS ? stepOf(match) : undefined
    if (!step)
      throw invalid(`"${whole.slice(at, at + 20)}" at character ${at + 1} of ${whole.slice(0, 100)} is not understood`)
    steps.push(step)
  }
  return steps
}

function stepOf([, name, index, from, to, double, single]: RegExpExecArray): Step | undefined {
  if (name !== undefined) return { kind: 'name', name }
  if (index !== undefined) return { kind: 'index', index: Number(index) }
  if (from !== undefined || to !== undefined)
    return { kind: 'slice', from: from ? Number(from) : undefined, to: to ? Number(to) : undefined }
  if (double !== undefined) return nameStep(`"${double}"`)
  if (single !== undefined) return { kind: 'name', name: single.replace(/\\(.)/g, '$1') }
  return { kind: 'all' }
}

function nameStep(quoted: string): Step | undefined {
  try {
    return { kind: 'name', name: JSON.parse(quoted) as string }
  } catch {
    return undefined
  }
}

function invalid(message: string): HostError {
  return new HostError('invalid-input', {
    detail: `path: ${message}`,
    errors: [{ path: 'path', message }],
    action: 'Write it like $.items[0].name, $.items[*].id or $.items[0:10].',
  })
}
