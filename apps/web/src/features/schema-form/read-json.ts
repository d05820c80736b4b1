/** JSON parser with text offsets of every value and of the first error. Never throws. */

export interface JsonNode {
  from: number
  to: number
  /** Object members by name, array items by index. */
  children?: Map<string, JsonNode>
}

export type ReadJson = { ok: true; value: unknown; node: JsonNode } | { ok: false; at: number; message: string }

const MAX_DEPTH = 200
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const STRING = /"[^"\\]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\]*)*"/y
const SPACE = /[\t\n\r ]*/y
const LITERALS: ReadonlyArray<[word: string, value: unknown]> = [
  ['true', true],
  ['false', false],
  ['null', null],
]

class Mistake extends Error {
  readonly at: number

  constructor(at: number, message: string) {
    super(message)
    this.at = at
  }
}

interface Part {
  value: unknown
  node: JsonNode
}

export function readJson(text: string): ReadJson {
  try {
    const reader = new Reader(text)
    const { value, node } = reader.whole()
    return { ok: true, value, node }
  } catch (error) {
    if (error instanceof Mistake) return { ok: false, at: Math.min(error.at, text.length), message: error.message }
    throw error
  }
}

class Reader {
  private readonly text: string
  private at = 0
  private depth = 0

  constructor(text: string) {
    this.text = text
  }

  whole(): Part {
    const part = this.part()
    this.space()
    if (this.at < this.text.length) throw new Mistake(this.at, 'Nothing may come after the value.')
    return part
  }

  private part(): Part {
    this.space()
    const from = this.at
    const next = this.text[from]
    if (next === undefined) throw new Mistake(from, 'A value is missing.')
    if (next === '{' || next === '[') return this.nested(next === '{')
    if (next === '"') return { value: this.string(), node: { from, to: this.at } }
    for (const [literal, value] of LITERALS)
      if (this.text.startsWith(literal, from)) {
        this.at += literal.length
        return { value, node: { from, to: this.at } }
      }
    const number = this.match(NUMBER)
    if (number) return { value: Number(number), node: { from, to: this.at } }
    throw new Mistake(from, next === "'" ? 'Texts stand in double quotes.' : 'A value was expected here.')
  }

  private nested(isObject: boolean): Part {
    if (++this.depth > MAX_DEPTH) throw new Mistake(this.at, 'It lies too deep.')
    const from = this.at++
    const close = isObject ? '}' : ']'
    const children = new Map<string, JsonNode>()
    const values: [string, unknown][] = []
    this.space()
    while (this.text[this.at] !== close) {
      if (values.length > 0) this.comma(close)
      const key = isObject ? this.key() : String(values.length)
      const { value, node } = this.part()
      children.set(key, node)
      values.push([key, value])
      this.space()
    }
    this.at++
    this.depth--
    const value = isObject ? Object.fromEntries(values) : values.map(([, item]) => item)
    return { value, node: { from, to: this.at, children } }
  }

  private comma(close: string): void {
    if (this.text[this.at] !== ',')
      throw new Mistake(this.at, this.at >= this.text.length ? `A ${close} is missing.` : 'A comma is missing here.')
    this.at++
    this.space()
    if (this.text[this.at] === close) throw new Mistake(this.at - 1, 'There is a comma too many.')
  }

  private key(): string {
    if (this.text[this.at] !== '"') throw new Mistake(this.at, 'A name in double quotes was expected here.')
    const key = this.string()
    this.space()
    if (this.text[this.at] !== ':') throw new Mistake(this.at, 'A colon is missing here.')
    this.at++
    return key
  }

  private string(): string {
    const from = this.at
    const found = this.match(STRING)
    const broken = new Mistake(from, 'This text has no end, or something in it must be escaped.')
    if (found === undefined) throw broken
    try {
      return JSON.parse(found) as string
    } catch {
      throw broken
    }
  }

  private space(): void {
    this.match(SPACE)
  }

  private match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at
    const found = pattern.exec(this.text)?.[0]
    if (found !== undefined) this.at += found.length
    return found
  }
}
