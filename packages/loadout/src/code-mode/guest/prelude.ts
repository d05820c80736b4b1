/**
 * Code that runs inside the engine before the program. It keeps the built-ins it needs in constants, because a program
 * can change globals. It is no security boundary: `run.ts` enforces the limits on the other side of `hostCall`.
 */

/** Messages from the guest. */
export const HOST_CALL = { call: 0, log: 1, done: 2, failed: 3, timer: 4 } as const
/** Calls into the guest. */
export const ENTRY_POINT = { prepare: 0, begin: 1, value: 2, error: 3, next: 4, fire: 5 } as const

export const GUEST_FILE = 'sandbox'
const MAX_TEXT = 4000

export const GUEST = `(() => {
  'use strict'
  const hostCall = globalThis.hostCall
  delete globalThis.hostCall
  delete globalThis.SharedArrayBuffer
  const { parse, stringify } = JSON
  const { apply, ownKeys } = Reflect
  const { defineProperty, freeze, hasOwn, setPrototypeOf } = Object
  const { now } = Date
  const { toPrimitive } = Symbol
  const OwnError = Error, OwnTypeError = TypeError, OwnPromise = Promise, OwnProxy = Proxy, text = String, number = Number
  const then = Promise.prototype.then
  const slice = String.prototype.slice, join = Array.prototype.join, isArray = Array.isArray
  const cut = (value) => apply(slice, text(value), [0, ${MAX_TEXT}])
  const define = (object, name, value) => defineProperty(object, name, { __proto__: null, value, writable: true, configurable: true })
  const program = globalThis

  class ToolError extends OwnError {}
  define(ToolError.prototype, 'name', 'ToolError')
  define(program, 'ToolError', ToolError)
  const toolErrors = ToolError.prototype

  // Calls: each is a promise that waits under its number.
  const waiting = { __proto__: null }
  let calls = 0
  const stringifyArguments = (values) => {
    let length = values.length
    while (length > 0 && values[length - 1] === undefined) length--
    values.length = length
    return stringify(values)
  }
  const makeFunction = (object, name) => {
    const call = (...values) => {
      // Made here, so that its stack is that of the call; what it is shows when it is thrown.
      const error = new OwnError()
      let args
      try {
        args = stringifyArguments(values)
      } catch (cause) {
        return new OwnPromise((_, reject) => reject(toolError(error, { code: 'invalid-arguments', message: 'The arguments cannot be written as JSON: ' + describeError(cause) })))
      }
      const promise = new OwnPromise((resolve, reject) => {
        waiting[calls++] = { __proto__: null, resolve, reject, error }
      })
      hostCall(${HOST_CALL.call}, object, name, args, args.length)
      return promise
    }
    return defineProperty(call, 'name', { __proto__: null, value: name })
  }
  const toolError = (error, failure) => {
    setPrototypeOf(error, toolErrors)
    define(error, 'message', failure.message)
    error.code = failure.code
    if (failure.data !== undefined) error.data = failure.data
    return error
  }
  const settle = (seq, ok, answer) => {
    const { resolve, reject, error } = waiting[seq]
    delete waiting[seq]
    if (ok) return resolve(parse(answer))
    reject(toolError(error, parse(answer)))
  }

  // Toolkits: a name that is not there says which are.
  const QUIET = { __proto__: null, then: 1, toJSON: 1, constructor: 1, toString: 1, valueOf: 1, prototype: 1, length: 1, name: 1 }
  const makeToolkit = (object, names) => {
    const functions = { __proto__: null }
    for (let i = 0; i < names.length; i++) functions[names[i]] = makeFunction(object, names[i])
    const some = apply(slice, text(apply(join, names, [', '])), [0, 600])
    const noText = () => {
      throw new OwnTypeError(object + ' is a toolkit and no value: call a function of it, and await what it gives. It has: ' + some)
    }
    return new OwnProxy(freeze(functions), {
      __proto__: null,
      get(target, key) {
        if (hasOwn(target, key)) return target[key]
        if (key === toPrimitive) return noText
        if (typeof key === 'symbol' || QUIET[key]) return undefined
        throw new OwnTypeError(object + ' has no function "' + cut(key) + '". It has: ' + some)
      },
    })
  }

  // Logs.
  const describeError = (thrown) => {
    try {
      if (typeof thrown !== 'object' || thrown === null) return cut(thrown)
      const name = thrown.name === undefined ? '' : text(thrown.name), message = text(thrown.message ?? '')
      const code = thrown instanceof ToolError && thrown.code !== undefined ? ' (' + text(thrown.code) + ')' : ''
      if (name === '' && message === '') return cut(stringify(thrown))
      return cut(name === '' ? message : message === '' ? name : name + ': ' + message) + cut(code)
    } catch {
      return 'something that has no text'
    }
  }
  const format = (value) => {
    try {
      if (typeof value === 'string') return value
      if (typeof value === 'bigint') return text(value) + 'n'
      if (typeof value === 'function') return '[function ' + text(value.name) + ']'
      if (typeof value !== 'object' || value === null) return text(value)
      if (value instanceof OwnError) return describeError(value)
      return text(stringify(value))
    } catch (cause) {
      return '[' + describeError(cause) + ']'
    }
  }
  const logger = (level) => (...values) => {
    let line = ''
    for (let i = 0; i < values.length; i++) line += (i === 0 ? '' : ' ') + format(values[i])
    hostCall(${HOST_CALL.log}, level, line, line.length)
  }
  const console = { __proto__: null }
  for (const level of ['log', 'info', 'warn', 'error', 'debug']) console[level] = logger(level)
  console.trace = console.dir = console.table = console.log
  define(program, 'console', console)

  // Timers: nobody waits for them. They are due in the program's own time, which goes on when all else stands still.
  let first, last, timers = 0
  const add = (timer) => {
    let before = last
    while (before && before.due > timer.due) before = before.before
    timer.before = before
    timer.after = before ? before.after : first
    if (timer.after) timer.after.before = timer
    else last = timer
    if (before) before.after = timer
    else first = timer
    timer.set = true
  }
  const remove = (timer) => {
    if (!timer.set) return
    timer.set = false
    if (timer.before) timer.before.after = timer.after
    else first = timer.after
    if (timer.after) timer.after.before = timer.before
    else last = timer.before
  }
  const byId = { __proto__: null }
  const delay = (ms) => { const value = number(ms); return value > 0 && value < 1e12 ? value : 0 }
  const schedule = (work, ms, { every, values }) => {
    if (typeof work !== 'function') throw new OwnTypeError('The first argument of a timer must be a function.')
    const timer = { __proto__: null, id: ++timers, work, values, every: every ? delay(ms) || 1 : 0, due: now() + delay(ms), set: false }
    byId[timer.id] = timer
    add(timer)
    hostCall(${HOST_CALL.timer})
    return timer.id
  }
  const clear = (id) => {
    const timer = byId[id]
    if (!timer) return
    delete byId[id]
    remove(timer)
  }
  define(program, 'setTimeout', (work, ms, ...values) => schedule(work, ms, { every: false, values }))
  define(program, 'setInterval', (work, ms, ...values) => schedule(work, ms, { every: true, values }))
  define(program, 'setImmediate', (work, ...values) => schedule(work, 0, { every: false, values }))
  for (const name of ['clearTimeout', 'clearInterval', 'clearImmediate']) define(program, name, clear)
  const fire = () => {
    const timer = first
    remove(timer)
    if (timer.every) {
      timer.due += timer.every
      add(timer)
    } else delete byId[timer.id]
    apply(timer.work, undefined, timer.values)
  }

  // Randomness: sfc32 over the seed.
  let a = 0, b = 0, c = 0, d = 0
  const random = () => {
    const t = (((a + b) | 0) + d) | 0
    d = (d + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = ((c << 21) | (c >>> 11)) + t | 0
    return (t >>> 0) / 4294967296
  }
  define(Math, 'random', random)

  const prepare = (config, input) => {
    const { seed, functions } = parse(config)
    ;[a, b, c, d] = seed
    for (let i = 0; i < 12; i++) random()
    defineProperty(program, 'input', { __proto__: null, value: parse(input), writable: true, configurable: true, enumerable: true })
    const objects = ownKeys(functions)
    for (let i = 0; i < objects.length; i++) {
      const object = objects[i], names = functions[object]
      if (object !== '') hasOwn(program, object) || define(program, object, makeToolkit(object, names))
      else for (let j = 0; j < names.length; j++) hasOwn(program, names[j]) || define(program, names[j], makeFunction('', names[j]))
    }
  }

  const failed = (thrown) => {
    let stack
    try {
      stack = typeof thrown === 'object' && thrown !== null && thrown.stack !== undefined ? cut(thrown.stack) : ''
    } catch {
      stack = ''
    }
    hostCall(${HOST_CALL.failed}, describeError(thrown), stack)
  }
  const begin = (body) => {
    apply(then, body(), [(value) => {
      let result
      try {
        result = stringify(value)
      } catch (cause) {
        return failed(new OwnTypeError('The value that the program returned cannot be written as JSON: ' + describeError(cause)))
      }
      if (result === undefined) result = 'null'
      hostCall(${HOST_CALL.done}, result, result.length)
    }, failed])
  }

  return (kind, one, two) => {
    if (kind === ${ENTRY_POINT.value}) settle(one, true, two)
    else if (kind === ${ENTRY_POINT.error}) settle(one, false, two)
    else if (kind === ${ENTRY_POINT.next}) return first ? first.due : -1
    else if (kind === ${ENTRY_POINT.fire}) fire()
    else if (kind === ${ENTRY_POINT.begin}) begin(one)
    else prepare(one, two)
  }
})()`
