/** Pauses the main thread at breakpoints and reports the functions on its stack, across awaits. */
import { Session } from 'node:inspector'
import { parentPort } from 'node:worker_threads'

export interface Breakpoint {
  url: string
  /** From 0. */
  line: number
}
/** Functions on a stack, innermost first. */
export type Frames = Array<{ url: string; name: string }>
export type Report = { isReady: true } | { frames: Frames }

interface StackTrace {
  callFrames: Array<{ url: string; functionName: string }>
  parent?: StackTrace
}

const session = new Session()
/** The frames of a pause have no URL of their own. */
const urls = new Map<string, string>()
const port = parentPort
if (port) {
  // A pending inspector command does not keep a thread alive.
  const alive = setInterval(() => {}, 1000)
  session.connectToMainThread()
  session.on('Debugger.scriptParsed', ({ params }) => urls.set(params.scriptId, params.url))
  session.on('Debugger.paused', ({ params }) => {
    const frames: Frames = params.callFrames.map(({ location, functionName }) => ({
      url: urls.get(location.scriptId) ?? '',
      name: functionName,
    }))
    for (let trace = params.asyncStackTrace as StackTrace | undefined; trace; trace = trace.parent)
      frames.push(...trace.callFrames.map(({ url, functionName }) => ({ url, name: functionName })))
    port.postMessage({ frames } satisfies Report)
    session.post('Debugger.resume')
  })
  port.on('message', async (breakpoints: Breakpoint[]) => {
    await send('Debugger.enable')
    await send('Debugger.setAsyncCallStackDepth', { maxDepth: 1000 })
    for (const { url, line } of breakpoints) await send('Debugger.setBreakpointByUrl', { url, lineNumber: line })
    port.postMessage({ isReady: true } satisfies Report)
  })
  port.on('close', () => clearInterval(alive))
}

const send = (method: string, params?: object) =>
  new Promise<void>((resolve, reject) =>
    session.post(method, params, (error: Error | null) => (error ? reject(error) : resolve())),
  )
