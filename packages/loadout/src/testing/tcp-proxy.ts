/** A wire to cut: passes bytes on to a server until it is told to refuse, to drop, or to fall silent. For tests. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface TcpProxy {
  /** The given URL, through the proxy. */
  url: string
  /** New connections are closed at once, and the open ones too. */
  refuse(): void
  /** Open connections are cut when something is next sent over them. */
  cutAtNext(): void
  /** Open connections stay, and nothing passes any more: a half-open connection. */
  hush(): void
  /** New connections pass again. */
  pass(): void
  close(): Promise<void>
}

export async function tcpProxy(target: string): Promise<TcpProxy> {
  const { hostname, port } = new URL(target)
  const open = new Set<Socket>()
  let refusing = false
  const server = createServer((near) => {
    if (refusing) return void near.destroy()
    const far = connect(Number(port), hostname)
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        open.delete(socket)
        other.destroy()
      })
      socket.pipe(other)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  const cut = () => {
    for (const socket of open) socket.destroy()
  }
  return {
    url: url.href,
    refuse() {
      refusing = true
      cut()
    },
    cutAtNext() {
      for (const socket of open) socket.once('data', () => socket.destroy())
    },
    hush() {
      for (const socket of open) {
        socket.unpipe()
        socket.pause()
      }
    },
    pass() {
      refusing = false
    },
    async close() {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
}
