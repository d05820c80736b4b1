/** Host-side handle of a sandbox: messages, CPU clock and termination. */
import type { FromSandbox, ToSandbox } from './protocol.ts'

export interface SandboxListener {
  message(message: FromSandbox): void
  /** The sandbox died unexpectedly. */
  lost(why: string): void
}

export interface SandboxHandle {
  send(message: ToSandbox): void
  /** Replaces the listener. */
  listen(listener: SandboxListener): void
  /** CPU time of its thread in ms; undefined if unknown. */
  threadMs(): Promise<number | undefined>
  /** CPU time when the sandbox became ready. */
  readyMs(): number | undefined
  /** A held sandbox keeps the process alive. */
  hold(on: boolean): void
  /** Terminates the sandbox at once. */
  end(): Promise<void>
}

/** The sandbox could not be opened or died; the message has the reason. */
export class SandboxClosedError extends Error {}
