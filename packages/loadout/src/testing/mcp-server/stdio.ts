/**
 * Serves MCP to a real process over its pipes. The process only relays bytes to this one, so that tools run in the test and can
 * use its variables.
 */
import type { AddressInfo, Socket } from 'node:net'
import type { McpServerFactory } from '@modelcontextprotocol/server'
import type { Listener, ListenOptions } from './listener.ts'

/** It ends with code 1 when the server disconnects, and with 0 when the client closes the pipe. */
const RELAY = `
const socket = require('node:net').connect(Number(process.argv[1]), '127.0.0.1')
process.exitCode = 1
process.stdin.on('end', () => { process.exitCode = 0; socket.end() }).pipe(socket, { end: false })
socket.on('error', () => {}).on('close', () => process.exit()).pipe(process.stdout)
`

export async function listenOverStdio(factory: McpServerFactory, options: ListenOptions): Promise<Listener> {
  const { createServer } = await import('node:net')
  const sockets = new Set<Socket>()
  const listening = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    void serve(socket, factory, options)
  })
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve))
  const { port } = listening.address() as AddressInfo
  return {
    server: { command: process.execPath, args: ['-e', RELAY, String(port)] },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => listening.close(resolve))
    },
  }
}

async function serve(socket: Socket, factory: McpServerFactory, { onMessage }: ListenOptions): Promise<void> {
  const [{ PassThrough }, { createInterface }, { serveStdio, StdioServerTransport }] = await Promise.all([
    import('node:stream'),
    import('node:readline'),
    import('@modelcontextprotocol/server/stdio'),
  ])
  const input = new PassThrough()
  const handle = serveStdio(factory, { transport: new StdioServerTransport(input, socket) })
  socket.on('close', () => void handle.close().catch(() => {}))
  createInterface({ input: socket }).on('line', async (line) => {
    const interference = await onMessage(JSON.parse(line))
    if (!interference) input.write(`${line}\n`)
    else if (interference.type === 'disconnect') socket.destroy()
    else if (interference.type !== 'silence') socket.write(`${JSON.stringify(interference.message)}\n`)
  })
}
