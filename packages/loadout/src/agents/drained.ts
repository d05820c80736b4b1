/** A stream that is read to its end also where who asked for it went away: then it is told, and what is left goes nowhere. */
export function drained<T>(stream: ReadableStream<T>, onGone: () => void): ReadableStream<T> {
  const reader = stream.getReader()
  let isGone = false
  const pump = async (controller: ReadableStreamDefaultController<T>) => {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      if (!isGone) controller.enqueue(value)
    }
    if (!isGone) controller.close()
  }
  return new ReadableStream<T>({
    start(controller) {
      // Not waited for: a start that lasts keeps what is there from who reads.
      void pump(controller).catch((error: unknown) => {
        if (!isGone) controller.error(error)
      })
    },
    cancel() {
      isGone = true
      onGone()
    },
  })
}
