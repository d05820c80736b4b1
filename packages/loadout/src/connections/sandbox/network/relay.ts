/**
 * Relay program for sandboxes with declared hosts. It listens on the sandbox's loopback, forwards each connection to
 * the egress socket, and runs the command as its child. `egress.ts` decides what may be reached.
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

/** Most programs read one of these; Node needs `NODE_USE_ENV_PROXY`. */
export const RELAY_ENV: Readonly<Record<string, string>> = {
  HTTP_PROXY: PROXY,
  HTTPS_PROXY: PROXY,
  http_proxy: PROXY,
  https_proxy: PROXY,
  NO_PROXY: 'localhost,127.0.0.1',
  NODE_USE_ENV_PROXY: '1',
  // The sandbox trusts the same CAs as this machine.
  NODE_USE_SYSTEM_CA: '1',
}
