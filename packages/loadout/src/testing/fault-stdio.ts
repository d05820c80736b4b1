/** The fault server over stdio: `node fault-stdio.ts <file with the script as JSON> [file that logs calls]`. */
import { appendFileSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { type FaultIo, type FaultScript, FaultServer } from './fault-script.ts'

const script = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as FaultScript & {
  start?: string
  ignoreTerm?: boolean
  child?: boolean
  stderrFlood?: number
  stopReadingAt?: string
  logArguments?: boolean
}
const log = process.argv[3]
const server = new FaultServer(script)

if (script.ignoreTerm) process.on('SIGTERM', () => {})
if (script.start) process.stdout.write(script.start)
if (script.stderrFlood) {
  const line = `${'x'.repeat(1023)}\n`
  for (let i = 0; i < script.stderrFlood; i++) process.stderr.write(line)
}
if (script.child) {
  const { spawn } = await import('node:child_process')
  const grandchild = spawn(process.execPath, ['-e', "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)"], {
    stdio: 'ignore',
  })
  if (log) appendFileSync(log, `grandchild ${grandchild.pid}\n`)
}

const io: FaultIo = {
  send: (message) => void process.stdout.write(`${JSON.stringify(message)}\n`),
  raw: (text) => void process.stdout.write(`${text}\n`),
  bytes(count, newline) {
    const block = 'x'.repeat(65_536)
    const write = () => {
      for (; count > 0; ) {
        count -= block.length
        if (!process.stdout.write(block)) {
          process.stdout.once('drain', write)
          return
        }
      }
      if (newline) process.stdout.write('\n')
    }
    write()
  },
  print: (text) => void process.stderr.write(text),
  exit(code, stderr) {
    process.stderr.write(stderr, () => process.exit(code))
  },
}

const argumentsOf = ({ params }: { params?: { arguments?: unknown } }) =>
  script.logArguments ? ` ${JSON.stringify(params?.arguments)}` : ''

const lines = createInterface({ input: process.stdin })
lines.on('line', (line) => {
  const message = JSON.parse(line)
  if (message.method === script.stopReadingAt) process.stdin.pause()
  if (log && message.method === 'tools/call') appendFileSync(log, `${message.params?.name}${argumentsOf(message)}\n`)
  if (log && message.method === 'notifications/cancelled') appendFileSync(log, 'cancelled\n')
  void server.handle(message, io)
})
// One that stops reading stays alive all the same.
if (script.stopReadingAt) setInterval(() => {}, 1000)
