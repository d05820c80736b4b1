/** Extracts why a process ended from its stderr: the error line of a stack trace, otherwise the last whole lines. */

const MAX_LENGTH = 500
const TRACE = /^Traceback \(most recent call last\):|^\s+(at |File ")/m
/** `ValueError: …`, `java.io.IOException: …`, `Error [ERR_X]: …`, `panic: …`, or an exception name alone. */
const ERROR =
  /^(Caused by: |Exception in thread .*? )?(Uncaught )?([\w$.]+\.)?(\w*(Error|Exception|Interrupt|Exit)|panic)\b[^\n]*/

export function crashReason(stderr: string): string {
  const lines = stderr
    .replace(/\r\n?/g, '\n')
    .split('\n')
    .filter((line) => line.trim() !== '')
  const error = TRACE.test(stderr) ? lines.findLast((line) => ERROR.test(line)) : undefined
  return error === undefined ? tail(lines) : error.slice(0, MAX_LENGTH)
}

/** As many whole last lines as `MAX_LENGTH` allows, or the end of a longer line. */
function tail(lines: readonly string[]): string {
  let size = 0
  const first = lines.findLastIndex((line) => {
    size += line.length + 1
    return size > MAX_LENGTH
  })
  const whole = lines.slice(first + 1)
  return whole.length > 0 ? whole.join('\n') : (lines.at(-1) ?? '').slice(-MAX_LENGTH)
}
