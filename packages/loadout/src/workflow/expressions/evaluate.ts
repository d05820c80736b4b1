/**
 * Evaluates an expression over plain JSON. What holds of it, whatever the expression and the data:
 *
 * - It ends within its meter, and what it gives is plain JSON; its one way to fail is an `ExpressionFault` with its place.
 * - Names are looked up as own properties and nothing else; nothing of the data is changed.
 * - There is one kind of number, JSON's, and so `1 / 2` is 0.5. There are no patterns: matching them can take for ever.
 */
import type { Json, JsonObject } from '../../schema/json.ts'
import { type Expression, LOOPS, type Node } from './expression.ts'
import { ExpressionFault } from './expression-error.ts'
import { FUNCTIONS, isList, isMap, kindOf, METHODS, noFunction, same } from './functions.ts'
import { type EvaluationLimits, Meter } from './meter.ts'

export type Values = Readonly<Record<string, Json>>

export function evaluate({ root }: Expression, values: Values, limits?: EvaluationLimits | Meter): Json {
  const meter = limits instanceof Meter ? limits : new Meter(limits)
  try {
    return read(root, { values, meter }) ?? null
  } catch (error) {
    if (error instanceof ExpressionFault) throw error
    // A stack that was nearly full before we were called.
    throw new ExpressionFault('could not be evaluated')
  }
}

interface Place {
  values: Values
  meter: Meter
}

function read(node: Node, place: Place): Json {
  place.meter.pay(1)
  try {
    return step(node, place)
  } catch (error) {
    throw error instanceof ExpressionFault ? error.placed(node.start) : error
  }
}

function step(node: Node, place: Place): Json {
  const { op } = node
  switch (op) {
    case 'value':
      return literal(node.args)
    case 'id':
      return variable(node.args, place)
    case '.':
    case '.?':
      return member(read(node.args[0], place), node.args[1], op === '.?')
    case '[]':
    case '[?]':
      return member(read(node.args[0], place), read(node.args[1], place), op === '[?]')
    case 'call':
      return call(node.args, place)
    case 'rcall':
      return method(node.args, place)
    case 'list':
      return node.args.map((inner) => read(inner, place))
    case 'map':
      return object(node.args, place)
    case '?:':
      return read(truth(read(node.args[0], place)) ? node.args[1] : node.args[2], place)
    case '&&':
      return truth(read(node.args[0], place)) && truth(read(node.args[1], place))
    case '||':
      return truth(read(node.args[0], place)) || truth(read(node.args[1], place))
    case '!_':
      return !truth(read(node.args, place))
    case '-_':
      return -number(read(node.args, place))
    default:
      return binary({ op, meter: place.meter }, read(node.args[0], place), read(node.args[1], place))
  }
}

function literal(value: unknown): Json {
  if (typeof value === 'bigint') return Number(value)
  if (typeof value !== 'object' || value === null) return value
  throw new ExpressionFault('is of a kind that JSON does not have')
}

function variable(name: string, { values }: Place): Json {
  if (Object.hasOwn(values, name)) return values[name]
  throw new ExpressionFault(`There is no '${name.slice(0, 60)}' here. There are: ${Object.keys(values).join(', ')}`)
}

const SHOWN = 12

function member(value: Json, key: Json, isOptional: boolean): Json {
  if (isOptional && (value === null || value === undefined)) return null
  if (isList(value)) {
    if (typeof key !== 'number' || !Number.isInteger(key)) throw new ExpressionFault('A list is read by a whole number')
    if (key >= 0 && key < value.length) return value[key]
    if (isOptional) return null
    throw new ExpressionFault(`There is no item ${key}: the list has ${value.length}`)
  }
  if (!isMap(value))
    throw new ExpressionFault(`${JSON.stringify(key)?.slice(0, 60)} cannot be read of ${kindOf(value)}`)
  const name = typeof key === 'number' ? String(key) : key
  if (typeof name !== 'string') throw new ExpressionFault('An object is read by a text')
  if (Object.hasOwn(value, name)) return value[name]
  if (isOptional) return null
  const names = Object.keys(value)
  const there = names.slice(0, SHOWN).join(', ').slice(0, 300)
  throw new ExpressionFault(
    `There is no '${name.slice(0, 60)}'. There ${names.length === 0 ? 'is nothing' : `are: ${there}${names.length > SHOWN ? ', …' : ''}`}`,
  )
}

function object(entries: ReadonlyArray<readonly [Node, Node]>, place: Place): JsonObject {
  const made: JsonObject = {}
  for (const [keyNode, valueNode] of entries) {
    const key = read(keyNode, place)
    if (typeof key !== 'string') throw new ExpressionFault('The name of a field is a text', keyNode.start)
    if (key === '__proto__') throw new ExpressionFault("'__proto__' is no name of a field", keyNode.start)
    made[key] = read(valueNode, place)
  }
  return made
}

function call([name, args]: readonly [string, readonly Node[]], place: Place): Json {
  if (name === 'has') return has(args, place)
  const known = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined
  if (!known?.takes.includes(args.length)) throw new ExpressionFault(noFunction(name, args.length, FUNCTIONS))
  return known.call(
    args.map((inner) => read(inner, place)),
    place.meter,
  )
}

/** Whether there is such a field; what it is read of must be there. */
function has([field]: readonly Node[], place: Place): boolean {
  if (field?.op !== '.' && field?.op !== '[]') throw new ExpressionFault('has() takes a field: has(input.name)')
  const value = read(field.args[0], place)
  const key = field.op === '.' ? field.args[1] : read(field.args[1], place)
  if (isList(value)) return typeof key === 'number' && key >= 0 && key < value.length
  return isMap(value) && typeof key === 'string' && Object.hasOwn(value, key) && (value[key] ?? null) !== null
}

function method([name, receiver, args]: readonly [string, Node, readonly Node[]], place: Place): Json {
  if (LOOPS.has(name)) return loop(name, { items: read(receiver, place), args, place })
  const known = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined
  if (!known?.takes.includes(args.length)) throw new ExpressionFault(noFunction(name, args.length, METHODS))
  return known.call([read(receiver, place), ...args.map((inner) => read(inner, place))], place.meter)
}

interface Loop {
  items: Json
  args: readonly Node[]
  place: Place
}

function loop(name: string, { items, args, place }: Loop): Json {
  const all = isMap(items) ? [...place.meter.namesOf(items)] : items
  if (!isList(all)) throw new ExpressionFault(`'${name}' goes over a list, and got ${kindOf(items)}`)
  const [item, first, second] = args
  if (item?.op !== 'id' || !first || (second && name !== 'map'))
    throw new ExpressionFault(`'${name}' takes a name and an expression: list.${name}(x, …)`)
  const each = (node: Node, value: Json) => read(node, { ...place, values: { ...place.values, [item.args]: value } })
  const holds = (value: Json) => truth(each(first, value))
  // A copy of the names for each item is paid for.
  place.meter.pay(all.length * (1 + (Object.keys(place.values).length >> 4)))
  if (name === 'all') return all.every(holds)
  if (name === 'exists') return all.some(holds)
  if (name === 'exists_one') return all.filter(holds).length === 1
  if (name === 'filter') return all.filter(holds)
  if (!second) return all.map((value) => each(first, value))
  return all.filter(holds).map((value) => each(second, value))
}

function truth(value: Json): boolean {
  if (typeof value === 'boolean') return value
  throw new ExpressionFault(`Must be true or false, and is ${kindOf(value)}`)
}

function number(value: Json): number {
  if (typeof value === 'number') return value
  throw new ExpressionFault(`Must be a number, and is ${kindOf(value)}`)
}

function binary({ op, meter }: { op: string; meter: Meter }, a: Json, b: Json): Json {
  if (op === '==') return same(a, b, meter)
  if (op === '!=') return !same(a, b, meter)
  if (op === 'in') return isIn(a, b, meter)
  if (op === '+') return sum(a, b, meter)
  if (op === '<' || op === '<=' || op === '>' || op === '>=') return compared({ op, meter }, a, b)
  const right = number(b)
  const result = reckoned(op, number(a), right)
  if (Number.isFinite(result)) return result
  throw new ExpressionFault(right === 0 ? 'It divides by zero' : 'It gives no number')
}

function reckoned(op: string, left: number, right: number): number {
  if (op === '-') return left - right
  if (op === '*') return left * right
  return op === '/' ? left / right : left % right
}

function isIn(a: Json, b: Json, meter: Meter): boolean {
  if (isList(b)) return b.some((one) => same(one, a, meter))
  if (isMap(b)) return typeof a === 'string' && Object.hasOwn(b, a)
  throw new ExpressionFault(`'in' looks into a list or an object, and got ${kindOf(b)}`)
}

function sum(a: Json, b: Json, meter: Meter): Json {
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
    `'+' takes two numbers, two texts or two lists, and got ${kindOf(a)} and ${kindOf(b)}; string(x) makes a text`,
  )
}

function compared({ op, meter }: { op: string; meter: Meter }, a: Json, b: Json): boolean {
  const isPair = (typeof a === 'number' && typeof b === 'number') || (typeof a === 'string' && typeof b === 'string')
  if (!isPair)
    throw new ExpressionFault(`'${op}' compares two numbers or two texts, and got ${kindOf(a)} and ${kindOf(b)}`)
  const [left, right] = [a as string, b as string]
  if (typeof a === 'string') meter.look(Math.min(left.length, right.length))
  return op === '<' ? left < right : op === '<=' ? left <= right : op === '>' ? left > right : left >= right
}
