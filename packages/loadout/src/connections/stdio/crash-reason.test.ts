import { expect, it } from 'vitest'
import { crashReason } from './crash-reason.ts'

const frames = (line: (i: number) => string) => Array.from({ length: 40 }, (_, i) => line(i)).join('\n')

it('gives the last line of a Python traceback, of the exception that ended it', () => {
  const inner = `Traceback (most recent call last):\n${frames((i) => `  File "/srv/a.py", line ${i}, in f\n    raise X`)}`
  const stderr = `INFO starting\n${inner}\nKeyError: 'a'\n\nDuring handling, another exception occurred:\n\n${inner}\nModuleNotFoundError: No module named 'pandas'\n`
  expect(crashReason(stderr)).toBe("ModuleNotFoundError: No module named 'pandas'")
})

it('gives the error line of a stack trace of Node and of Java', () => {
  const node = `node:internal/modules:1228\n  throw err;\n  ^\n\nError: Cannot find module '/x.ts'\n${frames((i) => `    at f (file:${i})`)} {\n  code: 'MODULE_NOT_FOUND'\n}\n\nNode.js v24.3.0\n`
  expect(crashReason(node)).toBe("Error: Cannot find module '/x.ts'")
  const java = `Exception in thread "main" java.lang.IllegalStateException: no key\n${frames((i) => `\tat com.x.Main.f(Main.java:${i})`)}\n`
  expect(crashReason(java)).toBe('Exception in thread "main" java.lang.IllegalStateException: no key')
})

it('gives whole lines where there is no trace', () => {
  const stderr = frames((i) => `line ${i} ${'x'.repeat(30)}`)
  expect(crashReason(stderr)).toMatch(/^line \d+ x/)
  expect(crashReason(stderr).endsWith(`line 39 ${'x'.repeat(30)}`)).toBe(true)
  expect(crashReason('last words')).toBe('last words')
  expect(crashReason(`${'a'.repeat(600)}end`)).toMatch(/^a{497}end$/)
  expect(crashReason('')).toBe('')
})
