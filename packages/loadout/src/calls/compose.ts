import type { CallHandler, ResolvedCall } from './call.ts'

/** A stage of the pipeline: does its part and hands on to the next, or answers itself. */
export type Stage = (next: CallHandler<ResolvedCall>) => CallHandler<ResolvedCall>

/** The first stage is the outermost. */
export function compose(stages: readonly Stage[], last: CallHandler<ResolvedCall>): CallHandler<ResolvedCall> {
  return stages.reduceRight((next, stage) => stage(next), last)
}
