/**
 * Stores each streamed model reply as a step before its tools are called, and replays it when the answer resumes. Text
 * streams at once; calls wait until the whole reply is stored, so that no call belongs to a reply that is lost.
 */
import type { LanguageModelMiddleware } from 'ai'
import type { RunLog, StepOutcome } from '../../runs/engine.ts'
import type { JsonObject } from '../../schema/json.ts'

type Streamed = Awaited<ReturnType<NonNullable<LanguageModelMiddleware['wrapStream']>>>
type ModelPart = Streamed['stream'] extends ReadableStream<infer P> ? P : never

export const replyPath = (reply: number) => `said:model-${reply}`

/** Runs a step of the log; rejects if the run is suspended. */
export type RunStep = (step: () => Promise<StepOutcome>) => Promise<{ value: unknown }>

export function recordStreams(
  log: RunLog,
  runStep: RunStep,
  onReply: (reply: number) => void,
): LanguageModelMiddleware {
  let replies = 0
  return {
    specificationVersion: 'v4',
    async wrapStream({ doStream }) {
      const reply = replies
      const { promise: started, resolve: start, reject: refuse } = Promise.withResolvers<void>()
      const { readable, writable } = new TransformStream<ModelPart, ModelPart>(undefined, undefined, BUFFER)
      const writer = writable.getWriter()
      const held: ModelPart[] = []
      let isLive = false
      const step = runStep(() =>
        log.step(
          { path: replyPath(reply), key: 'said#', kind: 'said', repeatable: true },
          {
            request: { said: `model-${reply}` },
            async execute() {
              isLive = true
              const { stream } = await doStream()
              onReply(reply)
              start()
              return { value: { parts: await forward(stream, writer, held) } as JsonObject }
            },
          },
        ),
      )
      void step
        .then(async ({ value }) => {
          if (!isLive) onReply(reply)
          start()
          const parts = isLive ? held : (value as { parts: ModelPart[] }).parts
          for (const part of parts) await writer.write(revived(part))
          await writer.close()
        })
        .catch((error: unknown) => {
          refuse(error)
          void writer.abort(error).catch(() => {})
        })
      // A refused request is retried by the SDK under the same number.
      await started
      replies = reply + 1
      return { stream: readable }
    },
  }
}

/** Chunks are small, and the reader is in this process. */
const BUFFER = new CountQueuingStrategy({ highWaterMark: 10_000 })

/** Passes text on at once, and holds parts back from the first call on. Returns all parts as JSON. */
async function forward(
  stream: ReadableStream<ModelPart>,
  writer: WritableStreamDefaultWriter<ModelPart>,
  held: ModelPart[],
): Promise<JsonObject[]> {
  const parts: JsonObject[] = []
  let isHolding = false
  const reader = stream.getReader()
  for (;;) {
    const { done, value: part } = await reader.read()
    if (done) return merged(parts)
    if (part.type === 'error') throw part.error
    if (part.type === 'raw') continue
    isHolding ||= part.type === 'finish' || (part.type === 'tool-call' && part.providerExecuted !== true)
    if (isHolding) held.push(part)
    else await writer.write(part)
    parts.push(toJson(part))
  }
}

/** Joins neighboring deltas of one text. */
function merged(parts: readonly JsonObject[]): JsonObject[] {
  const result: JsonObject[] = []
  for (const part of parts) {
    const last = result.at(-1)
    if (last && String(part.type).endsWith('-delta') && last.type === part.type && last.id === part.id)
      result[result.length - 1] = { ...last, delta: `${last.delta}${part.delta}` }
    else result.push(part)
  }
  return result
}

/** Dates became text in the log. */
function revived(part: ModelPart): ModelPart {
  if (part.type !== 'response-metadata' || part.timestamp === undefined) return part
  return { ...part, timestamp: new Date(part.timestamp) }
}

/** Converts to JSON: bytes become base64, which the SDK also accepts. */
const toJson = (value: object): JsonObject =>
  JSON.parse(
    JSON.stringify(value, (_, inner: unknown) =>
      inner instanceof Uint8Array ? btoa(Array.from(inner, (byte) => String.fromCharCode(byte)).join('')) : inner,
    ),
  ) as JsonObject
