/**
 * Parses ECMAScript regular expressions in Unicode mode, without features that need backtracking: back references and
 * lookaround. Escaped punctuation that Unicode mode rejects (`\-`, `\@`) is a literal, because schemas use it often.
 * The tree has its unrolled size, so `(a{1000}){1000}` is rejected before it is built.
 */
import {
  type CharSet,
  charSet,
  complement,
  DIGITS,
  LAST,
  LINE_ENDS,
  type PropertyTest,
  SPACES,
  WORDS,
} from './char-set.ts'

export class UnsupportedPattern extends Error {}

export type Assertion = 'start' | 'end' | 'word' | 'not-word'

export type Tree = { size: number } & (
  | { type: 'set'; set: CharSet }
  | { type: 'assert'; assertion: Assertion }
  | { type: 'all'; parts: Tree[] }
  | { type: 'any'; parts: Tree[] }
  | { type: 'repeat'; part: Tree; min: number; max: number }
)

const MAX_SIZE = 10_000
const MAX_GROUPS = 60
const MAX_PROPERTIES = 40

const CONTROL: Record<string, number> = { t: 9, n: 10, v: 11, f: 12, r: 13 }
const CLASSES: Record<string, readonly number[]> = {
  d: DIGITS,
  D: complement(DIGITS),
  w: WORDS,
  W: complement(WORDS),
  s: SPACES,
  S: complement(SPACES),
}

/** An escape or a character: a single code point or a class. */
type Atom = { code: number } | { ranges: readonly number[] } | { property: PropertyTest }

export class PatternParser {
  private at = 0
  private depth = 0
  private propertyCount = 0
  private readonly source: string

  constructor(source: string) {
    this.source = source
  }

  parse(): Tree {
    const tree = this.alternatives()
    if (this.at < this.source.length) throw new UnsupportedPattern('it has a ) without its (')
    return tree
  }

  private alternatives(): Tree {
    const parts = [this.sequence()]
    while (this.take('|')) parts.push(this.sequence())
    const [only] = parts
    if (only && parts.length === 1) return only
    return sized({ type: 'any', parts, size: sum(parts) + 2 * parts.length })
  }

  private sequence(): Tree {
    const parts: Tree[] = []
    while (this.at < this.source.length && this.peek() !== '|' && this.peek() !== ')') parts.push(this.term())
    const [only] = parts
    return only && parts.length === 1 ? only : sized({ type: 'all', parts, size: sum(parts) })
  }

  private term(): Tree {
    const part = this.atom()
    const bounds = this.quantifier()
    if (!bounds) return part
    const { min, max } = bounds
    const copies = max === Number.POSITIVE_INFINITY ? min + 1 : max
    return sized({ type: 'repeat', part, min, max, size: (part.size + 1) * copies + 1 })
  }

  private atom(): Tree {
    if (this.take('^')) return { type: 'assert', assertion: 'start', size: 1 }
    if (this.take('$')) return { type: 'assert', assertion: 'end', size: 1 }
    if (this.take('(')) return this.group()
    if (this.take('[')) return { type: 'set', set: this.bracket(), size: 1 }
    if (this.take('.')) return { type: 'set', set: charSet(complement(LINE_ENDS)), size: 1 }
    if ('*+?'.includes(this.peek())) throw new UnsupportedPattern('it repeats nothing')
    if (this.take('\\b')) return { type: 'assert', assertion: 'word', size: 1 }
    if (this.take('\\B')) return { type: 'assert', assertion: 'not-word', size: 1 }
    const atom = this.take('\\') ? this.escape() : { code: this.next() }
    return { type: 'set', set: setOf([atom], false), size: 1 }
  }

  private group(): Tree {
    if (++this.depth > MAX_GROUPS) throw new UnsupportedPattern('its groups are nested too deep')
    if (this.take('?') && !this.take(':')) {
      const name = /^<[\p{L}_$][\p{L}\p{N}_$]{0,60}>/u.exec(this.source.slice(this.at, this.at + 64))?.[0]
      if (!name) throw new UnsupportedPattern('it looks around or sets flags, which cannot be checked in linear time')
      this.at += name.length
    }
    const tree = this.alternatives()
    if (!this.take(')')) throw new UnsupportedPattern('it has a ( without its )')
    this.depth--
    return tree
  }

  private quantifier(): { min: number; max: number } | undefined {
    const bounds = this.bounds()
    if (bounds) this.take('?')
    return bounds
  }

  private bounds(): { min: number; max: number } | undefined {
    if (this.take('*')) return { min: 0, max: Number.POSITIVE_INFINITY }
    if (this.take('+')) return { min: 1, max: Number.POSITIVE_INFINITY }
    if (this.take('?')) return { min: 0, max: 1 }
    if (this.peek() !== '{') return undefined
    const found = /^\{(\d{1,9})(,(\d{0,9}))?\}/.exec(this.source.slice(this.at, this.at + 24))
    // A brace that is no quantifier is a literal, as in web regular expressions.
    if (!found) return undefined
    this.at += found[0].length
    const min = Number(found[1])
    const max = found[2] === undefined ? min : found[3] ? Number(found[3]) : Number.POSITIVE_INFINITY
    if (max < min) throw new UnsupportedPattern('it repeats at most less often than at least')
    return { min, max }
  }

  private bracket(): CharSet {
    const negated = this.take('^')
    const atoms: Atom[] = []
    const ranges: number[] = []
    while (!this.take(']')) {
      if (this.at >= this.source.length) throw new UnsupportedPattern('it has a [ without its ]')
      const first = this.bracketAtom()
      if (this.peek() !== '-' || this.source[this.at + 1] === ']') {
        atoms.push(first)
        continue
      }
      this.at++
      const last = this.bracketAtom()
      if (!('code' in first && 'code' in last)) atoms.push(first, { code: 0x2d }, last)
      else if (last.code < first.code) throw new UnsupportedPattern('it has a range that ends before it begins')
      else ranges.push(first.code, last.code)
    }
    return setOf([...atoms, { ranges }], negated)
  }

  private bracketAtom(): Atom {
    if (this.take('\\b')) return { code: 8 }
    return this.take('\\') ? this.escape() : { code: this.next() }
  }

  private escape(): Atom {
    const char = this.peek()
    this.at += char.length
    const ranges = Object.hasOwn(CLASSES, char) ? CLASSES[char] : undefined
    if (ranges) return { ranges }
    const control = Object.hasOwn(CONTROL, char) ? CONTROL[char] : undefined
    if (control !== undefined) return { code: control }
    if (char === 'p' || char === 'P') return { property: this.property(char === 'p') }
    if (char === 'u') return { code: this.unicode() }
    if (char === 'x') return { code: this.hex(2) }
    if (char === 'c' && /[a-zA-Z]/.test(this.peek())) return { code: this.next() & 31 }
    if (char === '0' && !/\d/.test(this.peek())) return { code: 0 }
    if (/[1-9k]/.test(char)) throw new UnsupportedPattern('it refers back, which cannot be checked in linear time')
    if (char === '' || /[\p{L}\p{N}]/u.test(char))
      throw new UnsupportedPattern(`it uses \\${char}, which we do not know`)
    return { code: char.codePointAt(0) ?? 0 }
  }

  private property(wanted: boolean): PropertyTest {
    const name = /^\{([A-Za-z0-9_=]{1,60})\}/.exec(this.source.slice(this.at, this.at + 64))
    if (!name || ++this.propertyCount > MAX_PROPERTIES) throw new UnsupportedPattern('it has a \\p that we cannot read')
    this.at += name[0].length
    try {
      return { regex: new RegExp(`^\\p{${name[1]}}$`, 'u'), wanted }
    } catch {
      throw new UnsupportedPattern(`it names the unknown property ${name[1]}`)
    }
  }

  private unicode(): number {
    if (this.take('{')) {
      const end = this.source.indexOf('}', this.at)
      const code = Number.parseInt(this.source.slice(this.at, Math.min(end, this.at + 8)), 16)
      if (end < 0 || !(code <= LAST)) throw new UnsupportedPattern('it has a \\u that we cannot read')
      this.at = end + 1
      return code
    }
    const high = this.hex(4)
    if ((high & 0xfc00) !== 0xd800 || !/^\\u[dD][c-fC-F]/.test(this.source.slice(this.at, this.at + 4))) return high
    this.at += 2
    return 0x10000 + ((high & 0x3ff) << 10) + (this.hex(4) & 0x3ff)
  }

  private hex(digits: number): number {
    const text = this.source.slice(this.at, this.at + digits)
    if (text.length < digits || !/^[0-9a-fA-F]+$/.test(text))
      throw new UnsupportedPattern('it has a hexadecimal escape that we cannot read')
    this.at += digits
    return Number.parseInt(text, 16)
  }

  private peek(): string {
    const code = this.source.codePointAt(this.at)
    return code === undefined ? '' : String.fromCodePoint(code)
  }

  private next(): number {
    const code = this.source.codePointAt(this.at) ?? 0
    this.at += code > 0xffff ? 2 : 1
    return code
  }

  private take(text: string): boolean {
    if (!this.source.startsWith(text, this.at)) return false
    this.at += text.length
    return true
  }
}

function setOf(atoms: readonly Atom[], negated: boolean): CharSet {
  const ranges = atoms.flatMap((atom) =>
    'code' in atom ? [atom.code, atom.code] : 'ranges' in atom ? atom.ranges : [],
  )
  const properties = atoms.flatMap((atom) => ('property' in atom ? [atom.property] : []))
  return charSet(ranges, properties, negated)
}

function sum(parts: readonly Tree[]): number {
  return parts.reduce((total, part) => total + part.size, 0)
}

function sized(tree: Tree): Tree {
  if (tree.size > MAX_SIZE) throw new UnsupportedPattern('it is too large')
  return tree
}
