import { HostError } from '../errors.ts'

export interface OpenOnce<T> {
  use(): Promise<T>
  /** Returns the open value for the caller to close; the next use opens again. */
  forget(): Promise<T | undefined>
  /** Like `forget`, and later uses fail. */
  close(): Promise<T | undefined>
  readonly isClosed: boolean
}

/** Opens once, on first use. A failed open is not cached. */
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
      if (closed)
        throw new HostError('storage-unavailable', {
          detail: 'The storage is closed, because its host was closed.',
          action: 'Create a new host. A closed host takes no more calls.',
        })
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
