/** A sandbox as the host sees it: a line to it, its clock, and its end. */
import type { FromSandbox, ToSandbox } from './protocol.ts'

export interface SandboxListener {
  message(message: FromSandbox): void
  /** It is gone, and nobody here ended it. */
  lost(why: string): void
}

export interface SandboxHandle {
  send(message: ToSandbox): void
  /** One listens at a time. */
  listen(listener: SandboxListener): void
  /** What its thread computed since it began, in milliseconds; undefined where nobody knows. */
  threadMs(): Promise<number | undefined>
  /** The same, as it was when it was ready. */
  readyMs(): number | undefined
  /** While it is held, the process does not end by itself. */
  hold(on: boolean): void
  /** At once, whatever it does. */
  end(): Promise<void>
}

/** It could not be opened, or is gone; the message says why. */
export class SandboxClosedError extends Error {}
