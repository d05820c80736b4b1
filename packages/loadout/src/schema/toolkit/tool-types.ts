/**
 * Compile-time types of an app's tools. `loadout types` writes a declaration file that adds members to `ToolTypes`; without one,
 * every ref is a string and every argument is JSON.
 */
import type { JsonObject } from '../json.ts'

/**
 * Tools by ref, each with `input` and `output`. Declaration files add members.
 * @example
 * declare module '@loadout/core' {
 *   interface ToolTypes {
 *     'shop.refund': { input: { order: number }; output: { refunded: boolean } }
 *   }
 * }
 */
// biome-ignore lint/suspicious/noEmptyInterface: declaration files of apps merge their tools into it.
export interface ToolTypes {}

type Declared = keyof ToolTypes & string
type Empty = Record<never, never>

/** A ref that is not a literal: `string`, or a template such as `${string}.search`. */
type IsOpen<R extends string> = Empty extends Record<R, unknown> ? true : false

/** `R` if it names a declared tool, if it is only known at run time, or if no tool is declared. */
export type ToolRef<R extends string> = [Declared] extends [never]
  ? R
  : R extends Declared
    ? R
    : IsOpen<R> extends true
      ? R
      : Declared

export type ToolInput<R extends string> = R extends Declared
  ? ToolTypes[R] extends { input: infer Input }
    ? Input
    : JsonObject
  : JsonObject

/** Structured result of a tool; `unknown` if its server declares no output schema. */
export type ToolOutput<R extends string> = R extends Declared
  ? ToolTypes[R] extends { output: infer Output }
    ? Output
    : unknown
  : unknown

/** Arguments after the ref. They are optional if the tool requires none. */
export type ToolArguments<R extends string, Options> =
  Empty extends ToolInput<R> ? [args?: ToolInput<R>, options?: Options] : [args: ToolInput<R>, options?: Options]

/** An expression of a workflow, in place of a value that is no text. */
type Expression = `${string}{{${string}}}${string}`

type WithExpressions<T> = T extends string
  ? string extends T
    ? T
    : T | Expression
  : T extends number | boolean | null | undefined
    ? T | Expression
    : T extends readonly (infer Item)[]
      ? readonly WithExpressions<Item>[] | Expression
      : T extends object
        ? Members<T> | Expression
        : T

type Members<T> = { readonly [K in keyof T]: WithExpressions<T[K]> }

type NodeArguments<R extends string> =
  Empty extends ToolInput<R>
    ? { readonly arguments?: Members<ToolInput<R>> }
    : { readonly arguments: Members<ToolInput<R>> }

/** Requirements on a node: a tool node names a declared tool and has its arguments. */
export type CheckedNode<Node> = Node extends { type: 'tool'; ref: infer R extends string }
  ? { readonly ref: ToolRef<R> } & (R extends Declared ? NodeArguments<R> : unknown)
  : unknown
