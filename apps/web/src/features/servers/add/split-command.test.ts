import { expect, it } from 'vitest'
import { splitCommand } from './split-command.ts'

it.each([
  ['npx -y notes', ['npx', '-y', 'notes']],
  [`sh -c 'echo "a b"'`, ['sh', '-c', 'echo "a b"']],
  ['run --name="two words" ""', ['run', '--name=two words', '']],
  ['  ', []],
  ['it"s', ['it', 's']],
])('splits %s', (line, words) => {
  expect(splitCommand(line)).toEqual(words)
})
