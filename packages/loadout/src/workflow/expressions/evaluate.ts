/**
 * Evaluates an expression over plain JSON. For every expression and input:
 *
 * - Evaluation stays within its meter and returns plain JSON; it throws only `ExpressionFault`, with a position.
 * - Names resolve to own properties only, and the data is never changed.
 * - All numbers are JSON numbers, so `1 / 2` is 0.5. There is no regex matching, because its time is unbounded.
 */
import type { Json, JsonObject } from '../../schema/json.ts'
import { type Expression, type ExpressionNode, LOOPS } from './expression.ts'
import { ExpressionFault } from './expression-error.ts'
import { EXPRESSION_FUNCTIONS, isList, isMap, isSameValue, METHODS, noFunction, typeOfValue } from './functions.ts'
import { type EvaluationLimits, ExpressionMeter } from './meter.ts'

export type Values = Readonly<Record<string, Json>>

export function evaluate({ root }: Expression, values: Values, limits?: EvaluationLimits | ExpressionMeter): Json {
  const meter = limits instanceof ExpressionMeter ? limits : new ExpressionMeter(limits)
  try {
    return read(root, { values, meter }) ?? null
  } catch (error) {
    if (error instanceof ExpressionFault) throw error
    // The stack was nearly full before the call.
    throw new ExpressionFault('could not be evaluated')
  }
}

interface EvaluationContext {
  values: Values
  meter: ExpressionMeter
}

function read(node: ExpressionNode, context: EvaluationContext): Json {
  context.meter.pay(1)
  try {
    return step(node, context)
  } catch (error) {
    throw error instanceof ExpressionFault ? error.atPosition(node.start) : error
  }
}

function step(node: ExpressionNode, context: EvaluationContext): Json {
  const { op } = node
  switch (op) {
    case 'value':
      return literal(node.args)
    case 'id':
      return variable(node.args, context)
    case '.':
    case '.?':
      return member(read(node.args[0], context), node.args[1], op === '.?')
    case '[]':
    case '[?]':
      return member(read(node.args[0], context), read(node.args[1], context), op === '[?]')
    case 'call':
      return call(node.args, context)
    case 'rcall':
      return method(node.args, context)
    case 'list':
      return node.args.map((inner) => read(inner, context))
    case 'map':
      return object(node.args, context)
    case '?:':
      return read(truth(read(node.args[0], context)) ? node.args[1] : node.args[2], context)
    case '&&':
      return truth(read(node.args[0], context)) && truth(read(node.args[1], context))
    case '||':
      return truth(read(node.args[0], context)) || truth(read(node.args[1], context))
    case '!_':
      return !truth(read(node.args, context))
    case '-_':
      return -number(read(node.args, context))
    default:
      return binary({ op, meter: context.meter }, read(node.args[0], context), read(node.args[1], context))
  }
}

function literal(value: unknown): Json {
  if (typeof value === 'bigint') return Number(value)
  if (typeof value !== 'object' || value === null) return value
  throw new ExpressionFault('is of a kind that JSON does not have')
}

function variable(name: string, { values }: EvaluationContext): Json {
  if (Object.hasOwn(values, name)) return values[name]
  throw new ExpressionFault(`There is no '${name.slice(0, 60)}' here. There are: ${Object.keys(values).join(', ')}`)
}

const MAX_LISTED_NAMES = 12

function member(value: Json, key: Json, isOptional: boolean): Json {
  if (isOptional && (value === null || value === undefined)) return null
  if (isList(value)) {
    if (typeof key !== 'number' || !Number.isInteger(key)) throw new ExpressionFault('A list is read by a whole number')
    if (key >= 0 && key < value.length) return value[key]
    if (isOptional) return null
    throw new ExpressionFault(`There is no item ${key}: the list has ${value.length}`)
  }
  if (!isMap(value))
    throw new ExpressionFault(`${JSON.stringify(key)?.slice(0, 60)} cannot be read of ${typeOfValue(value)}`)
  const name = typeof key === 'number' ? String(key) : key
  if (typeof name !== 'string') throw new ExpressionFault('An object is read by a text')
  if (Object.hasOwn(value, name)) return value[name]
  if (isOptional) return null
  const names = Object.keys(value)
  const listed = names.slice(0, MAX_LISTED_NAMES).join(', ').slice(0, 300)
  throw new ExpressionFault(
    `There is no '${name.slice(0, 60)}'. There ${names.length === 0 ? 'is nothing' : `are: ${listed}${names.length > MAX_LISTED_NAMES ? ', …' : ''}`}`,
  )
}

function object(
  entries: ReadonlyArray<readonly [ExpressionNode, ExpressionNode]>,
  context: EvaluationContext,
): JsonObject {
  const result: JsonObject = {}
  for (const [keyNode, valueNode] of entries) {
    const key = read(keyNode, context)
    if (typeof key !== 'string') throw new ExpressionFault('The name of a field is a text', keyNode.start)
    if (key === '__proto__') throw new ExpressionFault("'__proto__' is no name of a field", keyNode.start)
    result[key] = read(valueNode, context)
  }
  return result
}

function call([name, args]: readonly [string, readonly ExpressionNode[]], context: EvaluationContext): Json {
  if (name === 'has') return has(args, context)
  const fn = Object.hasOwn(EXPRESSION_FUNCTIONS, name) ? EXPRESSION_FUNCTIONS[name] : undefined
  if (!fn?.takes.includes(args.length)) throw new ExpressionFault(noFunction(name, args.length, EXPRESSION_FUNCTIONS))
  return fn.call(
    args.map((inner) => read(inner, context)),
    context.meter,
  )
}

/** Tests whether a field exists; its object must exist. */
function has([field]: readonly ExpressionNode[], context: EvaluationContext): boolean {
  if (field?.op !== '.' && field?.op !== '[]') throw new ExpressionFault('has() takes a field: has(input.name)')
  const value = read(field.args[0], context)
  const key = field.op === '.' ? field.args[1] : read(field.args[1], context)
  if (isList(value)) return typeof key === 'number' && key >= 0 && key < value.length
  return isMap(value) && typeof key === 'string' && Object.hasOwn(value, key) && (value[key] ?? null) !== null
}

function method(
  [name, receiver, args]: readonly [string, ExpressionNode, readonly ExpressionNode[]],
  context: EvaluationContext,
): Json {
  if (LOOPS.has(name)) return loop(name, { items: read(receiver, context), args, context })
  const fn = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined
  if (!fn?.takes.includes(args.length)) throw new ExpressionFault(noFunction(name, args.length, METHODS))
  return fn.call([read(receiver, context), ...args.map((inner) => read(inner, context))], context.meter)
}

interface Loop {
  items: Json
  args: readonly ExpressionNode[]
  context: EvaluationContext
}

function loop(name: string, { items, args, context }: Loop): Json {
  const list = isMap(items) ? [...context.meter.namesOf(items)] : items
  if (!isList(list)) throw new ExpressionFault(`'${name}' goes over a list, and got ${typeOfValue(items)}`)
  const [item, first, second] = args
  if (item?.op !== 'id' || !first || (second && name !== 'map'))
    throw new ExpressionFault(`'${name}' takes a name and an expression: list.${name}(x, …)`)
  const each = (node: ExpressionNode, value: Json) =>
    read(node, { ...context, values: { ...context.values, [item.args]: value } })
  const isMatch = (value: Json) => truth(each(first, value))
  // Each item copies the variables, which costs steps.
  context.meter.pay(list.length * (1 + (Object.keys(context.values).length >> 4)))
  if (name === 'all') return list.every(isMatch)
  if (name === 'exists') return list.some(isMatch)
  if (name === 'exists_one') return list.filter(isMatch).length === 1
  if (name === 'filter') return list.filter(isMatch)
  if (!second) return list.map((value) => each(first, value))
  return list.filter(isMatch).map((value) => each(second, value))
}

function truth(value: Json): boolean {
  if (typeof value === 'boolean') return value
  throw new ExpressionFault(`Must be true or false, and is ${typeOfValue(value)}`)
}

function number(value: Json): number {
  if (typeof value === 'number') return value
  throw new ExpressionFault(`Must be a number, and is ${typeOfValue(value)}`)
}

function binary({ op, meter }: { op: string; meter: ExpressionMeter }, a: Json, b: Json): Json {
  if (op === '==') return isSameValue(a, b, meter)
  if (op === '!=') return !isSameValue(a, b, meter)
  if (op === 'in') return isIn(a, b, meter)
  if (op === '+') return sum(a, b, meter)
  if (op === '<' || op === '<=' || op === '>' || op === '>=') return compare({ op, meter }, a, b)
  const right = number(b)
  const result = calculate(op, number(a), right)
  if (Number.isFinite(result)) return result
  throw new ExpressionFault(right === 0 ? 'It divides by zero' : 'It gives no number')
}

function calculate(op: string, left: number, right: number): number {
  if (op === '-') return left - right
  if (op === '*') return left * right
  return op === '/' ? left / right : left % right
}

function isIn(a: Json, b: Json, meter: ExpressionMeter): boolean {
  if (isList(b)) return b.some((item) => isSameValue(item, a, meter))
  if (isMap(b)) return typeof a === 'string' && Object.hasOwn(b, a)
  throw new ExpressionFault(`'in' looks into a list or an object, and got ${typeOfValue(b)}`)
}

function sum(a: Json, b: Json, meter: ExpressionMeter): Json {
  if (typeof a === 'number' && typeof b === 'number') {
    if (Number.isFinite(a + b)) return a + b
    throw new ExpressionFault('It gives no number')
  }
  if (typeof a === 'string' && typeof b === 'string') {
    meter.text(a.length + b.length)
    return a + b
  }
  if (isList(a) && isList(b)) {
    meter.pay(a.length + b.length)
    return [...a, ...b]
  }
  throw new ExpressionFault(
    `'+' takes two numbers, two texts or two lists, and got ${typeOfValue(a)} and ${typeOfValue(b)}; string(x) makes a text`,
  )
}

function compare({ op, meter }: { op: string; meter: ExpressionMeter }, a: Json, b: Json): boolean {
  const isPair = (typeof a === 'number' && typeof b === 'number') || (typeof a === 'string' && typeof b === 'string')
  if (!isPair)
    throw new ExpressionFault(
      `'${op}' compares two numbers or two texts, and got ${typeOfValue(a)} and ${typeOfValue(b)}`,
    )
  const left = a as string
  const right = b as string
  if (typeof a === 'string') meter.scan(Math.min(left.length, right.length))
  return op === '<' ? left < right : op === '<=' ? left <= right : op === '>' ? left > right : left >= right
}
