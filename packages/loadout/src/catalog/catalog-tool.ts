import type { JsonObject } from '../schema/json.ts'
import type { ToolManifest } from '../schema/tool.ts'

/** A tool as the catalog has it. */
export interface CatalogTool {
  uscoId: string
  manifest: ToolManifest
  /** The fingerprint of what the server says now. */
  pin: string
  /** Since when it is accepted as it is; none where nothing of it is stored. */
  pinnedAt?: Date
  /** Not usable: the server no longer lists it, or it was set aside. */
  inactive?: string
  /** It differs from what was accepted. */
  changed?: { from: JsonObject; to: JsonObject }
  /** It differs from what was accepted in nothing but noise: order, defaults, examples, white space. It is not blocked. */
  minorChange?: { from: JsonObject; to: JsonObject }
  /** First seen while its server was not trusted, and accepted by nobody since. */
  unaccepted?: true
  /** Off: the same, and its server is not trusted now either. */
  held?: true
}
