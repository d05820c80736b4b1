/**
 * The way out of a sandbox that declared hosts. Inside there is only a loopback of its own; this small program listens
 * there, hands every connection to the socket of our proxy, and runs the command as its child. It decides nothing: what
 * may be reached is judged outside (`egress.ts`).
 */
export const RELAY_SOCKET_DIR = '/run/loadout'
const PORT = 3128

export const RELAY = `
const net = require('node:net')
const { spawn } = require('node:child_process')
const server = net.createServer((near) => {
  const far = net.connect('${RELAY_SOCKET_DIR}/proxy.sock')
  for (const [one, other] of [[near, far], [far, near]]) {
    one.on('error', () => other.destroy())
    one.on('close', () => other.destroy())
    one.pipe(other)
  }
})
server.listen(${PORT}, '127.0.0.1', () => {
  const [command, ...args] = process.argv.slice(1)
  const child = spawn(command, args, { stdio: 'inherit' })
  child.on('error', (error) => {
    console.error(error.message)
    process.exit(127)
  })
  child.on('exit', (code, signal) => process.exit(signal ? 128 : code))
})
`

const PROXY = `http://127.0.0.1:${PORT}`

/** Most programs look for one of these; Node does so when it is told to. */
export const RELAY_ENV: Readonly<Record<string, string>> = {
  HTTP_PROXY: PROXY,
  HTTPS_PROXY: PROXY,
  http_proxy: PROXY,
  https_proxy: PROXY,
  NO_PROXY: 'localhost,127.0.0.1',
  NODE_USE_ENV_PROXY: '1',
  // What this machine trusts is trusted inside too.
  NODE_USE_SYSTEM_CA: '1',
}
