/** `node lean-stdio.ts <legacy|modern>` */
import { createInterface } from 'node:readline'
import { answer, type Era } from './lean.ts'

const era = process.argv[2] as Era
createInterface({ input: process.stdin }).on('line', (line) => {
  const reply = answer(JSON.parse(line), era)
  if (reply !== undefined) process.stdout.write(`${reply}\n`)
})
