import { HostError } from '../errors.ts'

export interface OpenOnce<T> {
  use(): Promise<T>
  /** Lets go of what is open, which the caller then closes; the next use opens anew. */
  forget(): Promise<T | undefined>
  /** The same, for good. */
  close(): Promise<T | undefined>
  readonly isClosed: boolean
}

/** Opens at the first use, and once. A failed start is not kept: the next use tries again. */
export function openOnce<T>(open: () => Promise<T>): OpenOnce<T> {
  let opened: Promise<T> | undefined
  let closed = false

  async function start(): Promise<T> {
    try {
      return await open()
    } catch (error) {
      opened = undefined
      throw error
    }
  }
  async function forget(): Promise<T | undefined> {
    const was = opened
    opened = undefined
    return was?.catch(() => undefined)
  }

  return {
    async use() {
      if (closed) throw new HostError('storage-unavailable', { detail: 'The storage is closed.' })
      opened ??= start()
      return opened
    },
    forget,
    close() {
      closed = true
      return forget()
    },
    get isClosed() {
      return closed
    },
  }
}
