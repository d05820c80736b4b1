/** Keywords: type, enum, const, and those of numbers and strings. */
import { BudgetExceeded, STEP } from '../budget.ts'
import { FORMATS } from '../formats.ts'
import {
  ARRAY,
  BOOLEAN,
  canonicalValue,
  codePoints,
  isMultiple,
  type Kind,
  kindOf,
  NULL,
  NUMBER,
  OBJECT,
  STRING,
} from '../json-value.ts'
import { count, either, listed, literal, nearest, once, TYPE_NAMES, typeNames } from '../messages.ts'
import { type Check, VALID, type ValidationRun, type ValidationVerdict } from '../run.ts'
import type { SchemaCompiler } from '../schema-compiler.ts'

const KIND_OF_TYPE: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ['null', NULL],
  ['boolean', BOOLEAN],
  ['integer', NUMBER],
  ['number', NUMBER],
  ['string', STRING],
  ['array', ARRAY],
  ['object', OBJECT],
])

export function type(compiler: SchemaCompiler): void {
  const types = [...new Set([compiler.get('type')].flat())]
  const kinds = new Set<Kind>()
  for (const name of types) {
    const kind = typeof name === 'string' ? KIND_OF_TYPE.get(name) : undefined
    if (kind === undefined) {
      compiler.wrong('type', `must be one of ${[...TYPE_NAMES.keys()].join(', ')}, or some of these`)
      return
    }
    kinds.add(kind)
  }
  const refuse: readonly [Check] = [(value, run) => wrongType(types, value, run)]
  for (let kind: Kind = NULL; kind <= OBJECT; kind++)
    if (!kinds.has(kind as Kind)) compiler.refuse(kind as Kind, refuse)
  if (types.includes('number') || !types.includes('integer')) return
  compiler.on(NUMBER, (value, run) => (Number.isInteger(value) ? VALID : wrongType(types, value, run)))
}

/** Shared checks for schemas that contain only a type, which are frequent. */
const TYPE_ONLY: ReadonlyMap<string, Check> = new Map(
  [...KIND_OF_TYPE].map(([name, kind]): [string, Check] => [
    name,
    (value, run) => {
      run.spend(2 * STEP)
      const right = kindOf(value) === kind && (name !== 'integer' || Number.isInteger(value))
      return right ? VALID : wrongType([name], value, run)
    },
  ]),
)

export function typeOnly(type: unknown): Check | undefined {
  return typeof type === 'string' ? TYPE_ONLY.get(type) : undefined
}

function wrongType(types: readonly unknown[], value: unknown, run: ValidationRun): ValidationVerdict {
  return run.fail(() => {
    const expected = either(types.flatMap((name) => TYPE_NAMES.get(String(name)) ?? []))
    const actual = kindOf(value) === NUMBER && types.includes('integer') ? 'a fraction' : typeNames(value)
    return { kind: 'type', expected, message: `must be ${expected || 'nothing at all'}, not ${actual}` }
  })
}

export function options(compiler: SchemaCompiler): void {
  const values = compiler.list('enum')
  if (values) oneOfValues(compiler, values)
}

export function constant(compiler: SchemaCompiler): void {
  oneOfValues(compiler, [compiler.get('const')])
}

function oneOfValues(compiler: SchemaCompiler, values: readonly unknown[]): void {
  const has = membership(compiler, values)
  const expectedOnce = once(() => (values.length === 1 ? literal(values[0]) : `one of ${listed(values)}`))
  const names = once(() => values.filter((option) => typeof option === 'string'))
  compiler.onAny((value, run) => {
    // Comparing equal texts takes time in proportion to their length.
    if (typeof value === 'string') run.spend(value.length >> 6)
    if (has(value, run)) return VALID
    return run.fail(() => {
      const expected = expectedOnce()
      const near = typeof value === 'string' && values.length > 1 ? nearest(value, names(), run) : undefined
      const hint = near === undefined ? '' : `; did you mean ${literal(near)}?`
      return { kind: 'value', expected, message: `must be ${expected}${hint}` }
    })
  })
}

function membership(
  compiler: SchemaCompiler,
  values: readonly unknown[],
): (value: unknown, run: ValidationRun) => boolean {
  const [only] = values
  if (values.length === 1 && !isComplex(only)) return (value) => value === only
  const simple = new Set(values.filter((value) => !isComplex(value)))
  const complex = new Set(values.filter(isComplex).map((value) => literalText(compiler, value)))
  return (value, run) =>
    isComplex(value) ? complex.size > 0 && complex.has(canonicalValue(value, run)) : simple.has(value)
}

const isComplex = (value: unknown): value is object => typeof value === 'object' && value !== null

function literalText(compiler: SchemaCompiler, value: object): string {
  try {
    return canonicalValue(value, compiler.compilation.meter)
  } catch (thrown) {
    if (!(thrown instanceof BudgetExceeded)) throw thrown
    compiler.wrong(compiler.has('enum') ? 'enum' : 'const', thrown.message)
    return ''
  }
}

export function numbers(compiler: SchemaCompiler): void {
  for (const keyword of ['minimum', 'exclusiveMinimum', 'maximum', 'exclusiveMaximum'] as const)
    bound(compiler, keyword)
  const divisor = compiler.number('multipleOf')
  if (divisor === undefined) return
  if (divisor <= 0) compiler.wrong('multipleOf', 'must be above 0')
  else
    compiler.on(NUMBER, (value, run) =>
      isMultiple(value as number, divisor, run) ? VALID : run.fail(() => `must be a multiple of ${divisor}`),
    )
}

type Bound = 'minimum' | 'exclusiveMinimum' | 'maximum' | 'exclusiveMaximum'

function bound(compiler: SchemaCompiler, keyword: Bound): void {
  const upper = keyword === 'maximum' || keyword === 'exclusiveMaximum'
  const exclusive = upper ? 'exclusiveMaximum' : 'exclusiveMinimum'
  // In draft 4, which many generators still write, `exclusiveMinimum: true` changes the meaning of `minimum`.
  if (keyword === exclusive && typeof compiler.get(keyword) === 'boolean') return
  const limit = compiler.number(keyword)
  if (limit === undefined) return
  const open = keyword === exclusive || compiler.get(exclusive) === true
  const message = `must be ${open ? (upper ? 'less than' : 'greater than') : upper ? 'at most' : 'at least'} ${limit}`
  const within = (value: number) =>
    upper ? (open ? value < limit : value <= limit) : open ? value > limit : value >= limit
  compiler.on(NUMBER, (value, run) => (within(value as number) ? VALID : run.fail(() => message)))
}

export function strings(compiler: SchemaCompiler): void {
  const min = compiler.count('minLength')
  if (min !== undefined)
    compiler.on(STRING, (value, run) =>
      isLong(value as string, min, run) ? VALID : run.fail(() => `must have at least ${count(min, 'character')}`),
    )
  const max = compiler.count('maxLength')
  if (max !== undefined)
    compiler.on(STRING, (value, run) =>
      isLong(value as string, max + 1, run) ? run.fail(() => `must have at most ${count(max, 'character')}`) : VALID,
    )
  pattern(compiler)
  format(compiler)
}

/** A text of n UTF-16 units has n/2 to n code points, so counting is needed only when that does not decide. */
function isLong(text: string, min: number, run: ValidationRun): boolean {
  if (text.length < min) return false
  return text.length >= 2 * min || codePoints(text, run) >= min
}

function pattern(compiler: SchemaCompiler): void {
  const source = compiler.text('pattern')
  if (source === undefined) return
  const compiled = compiler.pattern(source, 'pattern')
  compiler.on(STRING, (value, run) => {
    if ('unsupported' in compiled)
      return run.undecided(`a pattern of the schema cannot be checked: ${compiled.unsupported}`)
    return compiled.test(value as string, run) ? VALID : run.fail(() => `must match the pattern ${literal(source)}`)
  })
}

function format(compiler: SchemaCompiler): void {
  const rule = FORMATS.get(compiler.text('format') ?? '')
  if (!rule || !compiler.compilation.limits.assertFormats) return
  compiler.on(STRING, (value, run) => {
    run.spend((value as string).length >> 2)
    return rule.test(value as string) ? VALID : run.fail(() => `must be ${rule.expected}`)
  })
}
