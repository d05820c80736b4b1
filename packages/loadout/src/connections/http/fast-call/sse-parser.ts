/**
 * Parses an event stream by the WHATWG rules: a line ends with LF, CR or CRLF, and a blank line ends an event. An
 * unfinished event is dropped. Input may be split anywhere.
 */
const LINE_END = /\r\n|\n|\r/

export class SseParser {
  /** ID of the last event that had one. */
  lastEventId: string | undefined
  retryMs: number | undefined
  readonly #onEvent: (data: string, type: string) => void
  /** Pieces of an unfinished line, joined once it ends. */
  #pieces: string[] = []
  #afterReturn = false
  #data: string | undefined
  #type = ''
  #id = ''

  constructor(onEvent: (data: string, type: string) => void) {
    this.#onEvent = onEvent
  }

  feed(piece: string): void {
    if (piece === '') return
    // A CR at the end of the last piece and this LF are one line break.
    const text = this.#afterReturn && piece.startsWith('\n') ? piece.slice(1) : piece
    this.#afterReturn = piece.endsWith('\r')
    if (!text.includes('\n') && !text.includes('\r')) {
      this.#pieces.push(text)
      return
    }
    const whole = this.#pieces.length === 0 ? text : this.#pieces.join('') + text
    const lines = whole.split(LINE_END)
    const rest = lines.pop() ?? ''
    this.#pieces = rest === '' ? [] : [rest]
    for (const line of lines) this.#take(line)
  }

  #take(line: string): void {
    if (line === '') {
      this.#end()
      return
    }
    const colon = line.indexOf(':')
    const name = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (name === 'data') this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`
    else if (name === 'event') this.#type = value
    else if (name === 'id' && !value.includes('\0')) this.#id = value
    else if (name === 'retry' && /^\d+$/.test(value)) this.retryMs = Number(value)
  }

  #end(): void {
    const data = this.#data
    const type = this.#type
    const id = this.#id
    this.#data = undefined
    this.#type = ''
    this.#id = ''
    // An event without data is ignored, with its ID.
    if (data === undefined) return
    if (id !== '') this.lastEventId = id
    this.#onEvent(data, type)
  }
}
